/**
 * The scripts in package.json name existing files. A script that runs tests must name files: given a folder, tap would
 * run nothing here.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import t from "tap";
import { projectRoot } from "./sources.ts";

const { scripts } = JSON.parse(readFileSync(join(projectRoot, "package.json"), "utf8")) as {
  scripts: Readonly<Record<string, string>>;
};

/** The files that a path matches; its last part may contain stars. */
function filesOf(path: string): string[] {
  const folder = join(projectRoot, dirname(path));
  const name = new RegExp(`^${basename(path).replaceAll(".", "\\.").replaceAll("*", ".*")}$`);
  return existsSync(folder) ? readdirSync(folder).filter((file) => name.test(file)) : [];
}

t.test("every script that runs tests names existing files and no folder", async (t) => {
  const named = Object.entries(scripts).flatMap(([script, command]) =>
    [...command.matchAll(/\btest\/\S+/g)].map(([path]) => ({ script, path })),
  );
  t.ok(named.length >= 6);
  for (const { script, path } of named) {
    t.match(path, /\.ts$/, `${script}: ${path} names files`);
    t.ok(filesOf(path).length > 0, `${script}: ${path} exists`);
  }
});
