/** The programs without their types. */
export function bundleClient(target: string): Promise<void>;
/** @returns the folder with the programs and their types */
export function buildClient(target?: string): Promise<string>;
