/**
 * Administrative operations, done by a running server through its admin listener, or on a stopped data folder. White box
 * for the stopped folder, because a process for each operation takes too long.
 */

import { readConfig } from "../../src/app/config.ts";
import { withStoppedFolder } from "../../src/app/offline-ports.ts";
import { execute } from "../../src/operate/admin/operation-routes.ts";
import { adminOperations } from "../../src/operate/admin/operations.ts";
import { askAdmin } from "./admin.ts";
import type { TestServer } from "./server.ts";

export type Result = Record<string, unknown>;
export type Run = (name: string, params?: object) => Promise<Result>;

export const typed = { "Content-Type": "application/json" };

export async function call(
  where: string | number,
  name: string,
  params: object = {},
  headers: Record<string, string> = {},
) {
  const request = { method: "POST", headers: { ...typed, ...headers }, body: JSON.stringify(params) };
  const { status, body } = await askAdmin(where, `/admin/${name}`, request);
  return { status, ...(JSON.parse(body) as { result?: Result; error?: { kind: string; message: string } }) };
}

export const served =
  ({ dataDir }: Pick<TestServer, "dataDir">): Run =>
  async (name, params) => {
    const { result, error } = await call(dataDir, name, params);
    if (result === undefined) throw new Error(`${error?.kind}: ${error?.message}`);
    return result;
  };

export const stopped =
  (dataDir: string): Run =>
  async (name, params = {}) => {
    const operation = adminOperations.find((one) => one.name === name);
    if (operation === undefined) throw new Error(`no operation ${name}`);
    const fail = (error: unknown): never => {
      throw error;
    };
    const alarm = { bug: () => undefined, fatal: fail, warn: () => undefined };
    return (await withStoppedFolder({ config: readConfig({ DATA_DIR: dataDir }), dataDir, alarm }, (ports) =>
      execute(operation, params, ports, () => undefined),
    )) as Result;
  };
