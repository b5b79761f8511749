/** The types of build.mjs, for the tests. */
/** @returns the folder with `index.html` and `assets/` */
export function ensureWebBuilt(): Promise<string>;
