"""The client for programs without asyncio, made of `_async`. Only `backend.py` is written here."""
