/**
 * A positive control breaks the program by replacing a piece of its text (test/support/broken-checkout.ts). Most are
 * played in the deep tier only; this test finds one whose piece has changed as soon as it does.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { projectRoot, readSources } from "./sources.ts";

const breakage = /\bfile: ("(?:src|domain|actors|schemas)\/[^"]+"),\s*from: ("(?:[^"\\\n]|\\.)*")/g;

t.test("the piece that a positive control replaces occurs exactly once in its file", async (t) => {
  const controls = readSources()
    .filter(({ path }) => path.startsWith("test/"))
    .flatMap(({ path, text }) =>
      [...text.matchAll(breakage)].map(([, file, from]) => ({ path, file: String(file), from: String(from) })),
    );
  t.ok(controls.length >= 10, `${controls.length} controls`);
  for (const { path, file, from } of controls) {
    const source = readFileSync(join(projectRoot, JSON.parse(file)), "utf8");
    t.equal(source.split(JSON.parse(from)).length, 2, `${path}: ${from}`);
  }
});
