"""The messages of the API as TypedDicts: `v2`, `rpc`, `worker` and `actions`."""
