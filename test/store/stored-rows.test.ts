/**
 * What the store keeps is what the types of rows say (schemas/records.ts): every row after a life with all areas is
 * compared with its type as the compiler knows it, and every table keeps all fields of its rows.
 */
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";
import ts from "typescript";
import { rowFields, type TableName } from "../../schemas/records.ts";
import { areaCases } from "../areas/index.ts";
import type { Answer, Client } from "../support/client.ts";
import { startTestServer } from "../support/server.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const tableNames = Object.keys(rowFields) as TableName[];

/** The type of each table's rows. */
function rowTypes(): { readonly checker: ts.TypeChecker; readonly rows: ReadonlyMap<string, ts.Type> } {
  const file = join(root, "schemas/records.ts");
  const { config } = ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile) as { config: object };
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [file] }, ts.sys, root);
  const program = ts.createProgram([file], options);
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  const records = source === undefined ? undefined : checker.getSymbolAtLocation(source);
  const tables = records === undefined ? [] : checker.getExportsOfModule(records);
  const symbol = tables.find(({ name }) => name === "RowTypes");
  if (symbol === undefined) throw new Error("schemas/records.ts does not export RowTypes");
  const rows = checker
    .getDeclaredTypeOfSymbol(symbol)
    .getProperties()
    .map((table) => {
      const row = checker.getTypeOfSymbol(table).getProperty("row");
      if (row === undefined) throw new Error(`${table.name} has no row`);
      return [table.name, checker.getTypeOfSymbol(row)] as const;
    });
  return { checker, rows: new Map(rows) };
}

const { checker, rows: types } = rowTypes();

/** The paths at which a value is not as its type says. */
function faultsIn(value: unknown, type: ts.Type, path: string): string[] {
  if ((type.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) !== 0) return [];
  if (type.isUnion()) {
    const faults = type.types.map((form) => faultsIn(value, form, path));
    return faults.some(({ length }) => length === 0) ? [] : (faults.sort((a, b) => a.length - b.length)[0] ?? []);
  }
  const wrong = [`${path}: ${JSON.stringify(value)} is no ${checker.typeToString(type)}`];
  if (type.isLiteral()) return value === type.value ? [] : wrong;
  if (checker.isArrayType(type)) {
    const [item] = checker.getTypeArguments(type as ts.TypeReference);
    if (!Array.isArray(value) || item === undefined) return wrong;
    return value.flatMap((inner, index) => faultsIn(inner, item, `${path}.${index}`));
  }
  // An id has a kind, which only the compiler knows (schemas/ids.ts).
  if (type.isIntersection() && type.types.some(({ flags }) => (flags & ts.TypeFlags.Number) !== 0)) {
    return typeof value === "number" ? [] : wrong;
  }
  if ((type.flags & ts.TypeFlags.Object) !== 0 || type.isIntersection()) {
    if (type.getSymbol()?.name === "Uint8Array") return value instanceof Uint8Array ? [] : wrong;
    if (typeof value !== "object" || value === null || Array.isArray(value)) return wrong;
    return faultsInFields(value as Readonly<Record<string, unknown>>, type, path);
  }
  const name = checker.typeToString(type);
  return [typeof value, String(value)].includes(name) ? [] : wrong;
}

function faultsInFields(fields: Readonly<Record<string, unknown>>, type: ts.Type, path: string): string[] {
  const known = checker.getPropertiesOfType(type);
  const others = type.getStringIndexType() ?? type.getNumberIndexType();
  const names = new Set(known.map(({ name }) => name));
  return [
    ...known.flatMap((property) => {
      const isMissing = fields[property.name] === undefined;
      const isOptional = (property.flags & ts.SymbolFlags.Optional) !== 0;
      if (isMissing) return isOptional ? [] : [`${path}.${property.name} is missing`];
      return faultsIn(fields[property.name], checker.getTypeOfSymbol(property), `${path}.${property.name}`);
    }),
    ...Object.entries(fields)
      .filter(([name]) => !names.has(name))
      .flatMap(([name, value]) =>
        others === undefined ? [`${path}.${name} is not declared`] : faultsIn(value, others, `${path}.${name}`),
      ),
  ];
}

/** Messages and everything that can happen to them. */
async function live(owner: Client, other: Client): Promise<void> {
  const must = async (answer: Promise<Answer>) => {
    const { status, body } = await answer;
    if (status !== 200) throw new Error(JSON.stringify(body));
  };
  const id = await owner.say("general", "rows", `@**all** and @**other 0**, see this`);
  await must(other.post(`/messages/${id}/reactions`, { emoji_name: "smile" }));
  await must(other.post("/messages/flags", { messages: [id], op: "add", flag: "starred" }));
  await must(owner.patch(`/messages/${id}`, { content: "edited", topic: "renamed" }));
  const poll = await owner.say("general", "rows", "/poll Which?");
  await must(
    other.post("/submessage", {
      message_id: poll,
      msg_type: "widget",
      content: '{"type":"vote","key":"canned,0","vote":1}',
    }),
  );
  await must(owner.post("/messages", { type: "direct", to: [other.userId], content: "for you" }));
  await must(other.post("/users/me/presence", { status: "active", new_user_input: true }));
  await must(other.post("/users/me/status", { status_text: "here", emoji_name: "smile" }));
  await must(other.post(`/users/me/muted_users/${owner.userId}`));
  await must(other.post("/mark_all_as_read"));
  await owner.register();
  await must(owner.post("/invites", { invitee_emails: "new@example.com", stream_ids: [] }));
  await must(owner.post("/invites/multiuse", { stream_ids: [] }));
  await must(owner.put("/bot_storage", { storage: { key: "value" } }));
  const bot = {
    full_name: "hook",
    short_name: "hook",
    bot_type: 3,
    payload_url: "http://127.0.0.1:9/",
    service_name: "s",
  };
  await must(owner.post("/bots", bot));
  await must(owner.post("/user_groups/create", { name: "team", description: "", members: [owner.userId] }));
  await must(
    owner.post("/messages", { type: "channel", to: "general", topic: "t", content: "x" }, { "Idempotency-Key": "k" }),
  );
  const moved = await owner.say("general", "to be moved", "first");
  await owner.say("general", "to be moved", "second");
  await must(owner.patch(`/messages/${moved}`, { topic: "elsewhere" }));
  const deleted = await owner.say("general", "rows", "deleted");
  await must(owner.delete(`/messages/${deleted}`));
}

t.test("a table keeps every field of its rows, and no other", async (t) => {
  for (const table of tableNames) {
    const type = types.get(table);
    if (type === undefined) throw new Error(`${table} has no type`);
    const declared = checker.getPropertiesOfType(type).map(({ name }) => name);
    t.strictSame([...rowFields[table]].sort(), declared.sort(), table);
  }
});

t.test("every stored row is as its type says", async (t) => {
  const server = await startTestServer(t);
  const { owner } = server;
  const other = await server.user("other");
  for (const { lists, owned, shared } of areaCases) {
    await lists?.play(owner, other);
    for (const make of Object.values({ ...owned, ...shared })) await make(owner);
  }
  await live(owner, other);
  const { lmdb } = server.realm;
  const filled = new Set<string>();
  for (const table of tableNames) {
    const type = types.get(table);
    if (type === undefined) throw new Error(`${table} has no type`);
    const faults: string[] = [];
    lmdb.each(table, (row) => {
      filled.add(table);
      faults.push(...faultsIn(row, type, table));
    });
    t.strictSame(faults.slice(0, 5), [], table);
  }
  const empty = tableNames.filter((table) => !filled.has(table));
  t.ok(filled.size > tableNames.length / 2, `${filled.size} tables have rows, without ${empty.join(", ")}`);
});
