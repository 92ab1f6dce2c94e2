"""The client for asyncio. `scripts/client-types.ts` makes `_sync` of it; only `backend.py` is written twice."""
