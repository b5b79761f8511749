/** For the test that reads the list: the scripts in this folder are not type-checked. */
export const measuringFiles: readonly string[];
export function runsAlone(file: string): boolean;
