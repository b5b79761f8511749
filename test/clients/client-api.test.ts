/** The types of packages/client are generated from schemas/, and the committed files are current. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { apiFolder, generateApi } from "../../packages/client/scripts/generate-api.ts";
import { temporaryFolder } from "../support/server.ts";

t.test(
  "[architecture] the client's types are those of the declarations (`npm run client:api` rewrites them)",
  async (t) => {
    const folder = temporaryFolder(t);
    await generateApi(folder);
    const names = readdirSync(folder).sort();
    t.strictSame(readdirSync(apiFolder).sort(), names);
    const stale = names.filter(
      (name) => readFileSync(join(folder, name), "utf8") !== readFileSync(join(apiFolder, name), "utf8"),
    );
    t.strictSame(stale, []);
  },
);
