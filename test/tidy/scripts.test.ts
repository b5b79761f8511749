/** What package.json calls exists: a script that runs tests names files, because tap takes no folders here and then runs nothing. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import t from "tap";
import { projectRoot } from "./sources.ts";

const { scripts } = JSON.parse(readFileSync(join(projectRoot, "package.json"), "utf8")) as {
  scripts: Readonly<Record<string, string>>;
};

/** Files that a path, or a path with stars in its last part, stands for. */
function filesOf(path: string): string[] {
  const folder = join(projectRoot, dirname(path));
  const name = new RegExp(`^${basename(path).replaceAll(".", "\\.").replaceAll("*", ".*")}$`);
  return existsSync(folder) ? readdirSync(folder).filter((file) => name.test(file)) : [];
}

t.test("[house] every script that runs tests finds some, and no folder in place of them", (t) => {
  const named = Object.entries(scripts).flatMap(([script, command]) =>
    [...command.matchAll(/\btest\/\S+/g)].map(([path]) => ({ script, path })),
  );
  t.ok(named.length >= 6);
  for (const { script, path } of named) {
    t.match(path, /\.ts$/, `${script}: ${path} is of files`);
    t.ok(filesOf(path).length > 0, `${script}: ${path} is there`);
  }
  t.end();
});
