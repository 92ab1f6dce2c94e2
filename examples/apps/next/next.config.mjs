// Only for this checkout: the client is a folder outside of this one.
export default { turbopack: { root: new URL("../../..", import.meta.url).pathname } };
