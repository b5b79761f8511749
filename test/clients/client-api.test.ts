/** The types of packages/client are generated from schemas/, and the committed files are current. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { checkout, Program } from "../support/process.ts";
import { temporaryFolder } from "../support/server.ts";

t.test("the client's types are those of the declarations (`npm run client:api` rewrites them)", async (t) => {
  const committed = join(checkout, "packages/client/src/api");
  const folder = join(temporaryFolder(t), "api");
  const generator = ["--import=tsx", "packages/client/scripts/generate-api.ts", folder];
  t.match(await new Program(t, process.execPath, generator, {}).exited, { code: 0 });
  const names = readdirSync(folder).sort();
  t.strictSame(readdirSync(committed).sort(), names);
  const stale = names.filter(
    (name) => readFileSync(join(folder, name), "utf8") !== readFileSync(join(committed, name), "utf8"),
  );
  t.strictSame(stale, []);
});
