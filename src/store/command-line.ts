/** How a person calls the command line: a package installs `colloquy`, and has its programs in `dist/programs`. */

export const commandLine = /\/dist\/programs\/[^/]+$/.test(import.meta.url) ? "colloquy" : "npm run -s cli --";
