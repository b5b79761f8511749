/**
 * Libraries that are big and that many servers never need: loaded when they are first used. By `require`, which tries again after a
 * failure: `import` remembers one for as long as the process lives, and a process without a descriptor left will have some again.
 */
import { createRequire } from "node:module";

/** What a package exports. Blocks for as long as it takes to load. @throws Error when its files cannot be read now */
export const loadLibrary: (name: string) => unknown = createRequire(import.meta.url);
