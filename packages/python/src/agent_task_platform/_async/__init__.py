"""The client for asyncio. The set-up makes `_sync` of it; only `backend.py` is written twice."""
