/** The fence (M1, M5): only the process that took over an environment last can write to it. */
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import t from "tap";
import { uploadName } from "../../schemas/files.ts";
import { type FencedEnvironment, fenced } from "../../src/store/fence.ts";
import { filesFolder } from "../../src/store/files.ts";
import { openLmdb } from "../../src/store/lmdb.ts";
import { PathGuard } from "../../src/store/path-guard.ts";
import { OpenRealm, openNewRealm } from "../support/runtime.ts";
import { type Teardown, temporaryFolder } from "../support/server.ts";

function take(t: Teardown, folder: string, token: string): FencedEnvironment {
  const lmdb = openLmdb(folder);
  t.teardown(() => lmdb.close());
  return fenced(lmdb, folder, token);
}

const put = (environment: FencedEnvironment, value: number) =>
  environment.transaction(() => environment.put("meta", "value", { value }));
const valueIn = (environment: FencedEnvironment) => environment.get("meta", "value")?.value;

t.test("[M5] a former owner's transaction throws before it writes, and the new owner has all commits", async (t) => {
  const folder = temporaryFolder(t);
  const older = take(t, folder, "older");
  put(older, 1);
  older.assertOwned();
  const newer = take(t, folder, "newer");
  t.equal(valueIn(newer), 1);
  let hasRun = false;
  const late = () =>
    older.transaction(() => {
      hasRun = true;
    });
  t.throws(late, { name: "OwnershipLost", message: /^Another process took over / });
  t.notOk(hasRun);
  t.throws(() => older.assertOwned(), { name: "OwnershipLost" });
  put(newer, 2);
  newer.assertOwned();
  t.equal(valueIn(newer), 2);
});

t.test("[M6] a nested transaction behind the fence rolls back alone, too", async (t) => {
  const environment = take(t, temporaryFolder(t), "owner");
  environment.transaction(() => {
    put(environment, 1);
    t.throws(() =>
      environment.transaction(() => {
        environment.put("meta", "value", { value: 2 });
        throw new Error("a bug");
      }),
    );
    t.equal(environment.isWriting, true);
  });
  t.equal(valueIn(environment), 1);
});

t.test("[M1] a commit into a file that was removed or replaced fails", async (t) => {
  const damages: Readonly<Record<string, (file: string) => void>> = {
    removed: (file) => rmSync(file),
    replaced: (file) => {
      renameSync(file, `${file}-before`);
      writeFileSync(file, "");
    },
  };
  for (const [how, damage] of Object.entries(damages)) {
    const folder = temporaryFolder(t);
    const environment = take(t, folder, "owner");
    damage(join(folder, "data.mdb"));
    const expected = { name: "OwnershipLost", message: new RegExp(`data\\.mdb was ${how} while the server ran on it`) };
    t.throws(() => put(environment, 1), expected);
    t.throws(() => environment.assertOwned(), expected);
  }
});

t.test("[M1] a folder is identified by its content, not by its name", async (t) => {
  const path = join(temporaryFolder(t), "file");
  t.throws(() => new PathGuard(path), { code: "ENOENT" });
  writeFileSync(path, "a");
  const place = new PathGuard(path);
  writeFileSync(path, "another text in the same file");
  t.doesNotThrow(() => place.verify());
  renameSync(path, `${path}-away`);
  t.throws(() => place.verify(), /was removed/);
  renameSync(`${path}-away`, path);
  t.doesNotThrow(() => place.verify());
});

t.test("a former owner's sweep removes no file, including the new owner's", async (t) => {
  const folder = temporaryFolder(t);
  await (await openNewRealm(t, { folder })).realm.close();
  const files = ["a", "b"].map((letter) => join(filesFolder(folder), uploadName(letter.repeat(32))));
  const [orphan = "", fresh = ""] = files;
  mkdirSync(dirname(orphan), { recursive: true });
  writeFileSync(orphan, "nobody's");
  // Its sweep has started when this returns, and continues later.
  const { realm, bugs } = new OpenRealm(t, { folder, owner: "older" });
  const newer = take(t, folder, "newer");
  writeFileSync(fresh, "not claimed yet");
  await realm.files.idle();
  t.ok(files.every((file) => existsSync(file)));
  t.match(bugs, [{ error: { name: "OwnershipLost" } }]);
  newer.assertOwned();
});
