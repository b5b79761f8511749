/**
 * Writes `src/api/`: the operations, events and error codes of the server as plain TypeScript types, from the
 * declarations in `schemas/`. The published package contains only the result, so it depends on no schema library.
 * `npm run client:api` rewrites the files, and a test compares them with the declarations.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { personalLists } from "../../../schemas/areas.ts";
import { channelEvents } from "../../../schemas/channel-events.ts";
import { type Endpoint, wireOf } from "../../../schemas/endpoint.ts";
import { errorCodes } from "../../../schemas/errors.ts";
import { eventTypes, realmEvents, wireSchemas } from "../../../schemas/events.ts";
import { endpoints } from "../../../schemas/index.ts";
import { messageEvents } from "../../../schemas/message-events.ts";
import { realmState } from "../../../schemas/realm-state.ts";
import { peopleEvents } from "../../../schemas/user-events.ts";
import { type JsonSchema, objectOf, TypePrinter } from "./type-printer.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "../../..");

/** Where the generated files are committed. */
const apiFolder = join(root, "packages/client/src/api");

const header = "/** Generated from schemas/ by `npm run client:api`; do not edit. */\n";

/** Names of types that `schemas/` does not export: an operation, and the way to the schema in its answer. */
const furtherNames: Readonly<Record<string, readonly [operationId: string, ...path: string[]]>> = {
  Message: ["get-messages", "messages", "[]"],
  Reaction: ["get-messages", "messages", "[]", "reactions", "[]"],
  TopicLink: ["get-messages", "messages", "[]", "topic_links", "[]"],
  EditHistoryEntry: ["get-messages", "messages", "[]", "edit_history", "[]"],
  RealmEmoji: ["get-custom-emoji", "emoji", "*"],
  RegisteredUser: ["register-queue", "realm_users", "[]"],
  RegisteredBot: ["register-queue", "realm_bots", "[]"],
  BotService: ["register-queue", "realm_bots", "[]", "services", "[]"],
  UserSettings: ["register-queue", "user_settings"],
  UserSettingsDefaults: ["register-queue", "realm_user_settings_defaults"],
  PermissionSetting: ["register-queue", "server_supported_permission_settings", "realm", "*"],
};

/** Parameters that several operations share. */
const sharedParams: Readonly<Record<string, string>> = {
  UserSettingsChange: "update-settings",
  UserSettingsDefaultsChange: "update-realm-user-settings-defaults",
};

/** A type with at least this many fields has a file of its own. */
const largeTypeFields = 25;

interface Area {
  /** As its file in `schemas/`. */
  readonly name: string;
  readonly endpoints: readonly Endpoint[];
  readonly eventTypes: readonly string[];
  /** Its fields of the state that POST /register returns. */
  readonly state: Readonly<Record<string, JsonSchema>>;
}

interface AreaExport {
  readonly endpoints?: readonly Endpoint[];
  readonly state?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly events?: Readonly<Record<string, unknown>>;
}

type SchemaModules = ReadonlyMap<string, Readonly<Record<string, unknown>>>;

async function readModules(): Promise<SchemaModules> {
  const folder = join(root, "schemas");
  const names = readdirSync(folder).filter((name) => name.endsWith(".ts"));
  const modules = new Map<string, Readonly<Record<string, unknown>>>();
  for (const name of names.sort()) {
    modules.set(name.slice(0, -".ts".length), await import(pathToFileURL(join(folder, name)).href));
  }
  return modules;
}

/** The areas of `schemas/areas.ts` under the names of their files, and what belongs to no area. */
function readAreas(modules: SchemaModules): Area[] {
  const areas: Area[] = [];
  for (const [name, exported] of modules) {
    const found = Object.entries(exported).find(([key]) => key.endsWith("Area"))?.[1] as AreaExport | undefined;
    if (found === undefined) continue;
    const state = Object.assign({}, ...Object.values(found.state ?? {})) as Area["state"];
    areas.push({ name, endpoints: found.endpoints ?? [], eventTypes: Object.keys(found.events ?? {}), state });
  }
  const inAreas = new Set(areas.flatMap((area) => area.endpoints));
  const other = (name: string, part: Partial<Area>) => ({ name, endpoints: [], eventTypes: [], state: {}, ...part });
  const others = [
    other("register", { endpoints: endpoints.filter((one) => !inAreas.has(one)) }),
    other("realm-state", { state: realmState as Area["state"] }),
    other("message-events", { eventTypes: Object.keys(messageEvents) }),
    other("channel-events", { eventTypes: Object.keys(channelEvents) }),
    other("user-events", { eventTypes: Object.keys(peopleEvents) }),
    other("realm-events", { eventTypes: Object.keys(realmEvents) }),
  ];
  return [...areas, ...others].filter((area) => Object.values(kindsOf(area)).some((has) => has));
}

/** The kinds of declarations in an area's file. */
function kindsOf({ endpoints: own, eventTypes: types, state }: Area) {
  return { Operations: own.length > 0, Events: types.length > 0, State: Object.keys(state).length > 0 };
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && ("type" in value || "anyOf" in value) && !("path" in value);
}

/** Inner types are named first, so that outer ones refer to them. */
function nameTypes(printer: TypePrinter, modules: SchemaModules): void {
  const candidates: [string, JsonSchema][] = [];
  for (const exported of modules.values()) {
    for (const [name, value] of Object.entries(exported)) {
      if (/^[A-Z]/.test(name) && isSchema(value) && isPrintable(value)) candidates.push([name, value]);
    }
  }
  for (const { title, Entry } of personalLists) candidates.push([title, Entry as JsonSchema]);
  for (const [name, [operationId, ...path]] of Object.entries(furtherNames)) {
    candidates.push([name, path.reduce(partOf, operation(operationId).okSchema as JsonSchema)]);
  }
  for (const [name, schema] of candidates.sort(([, a], [, b]) => sizeOf(a) - sizeOf(b))) printer.name(name, schema);
  for (const [name, operationId] of Object.entries(sharedParams)) {
    printer.nameText(name, paramsType(printer, operation(operationId)));
  }
}

function operation(operationId: string): Endpoint {
  const found = endpoints.find((one) => one.operationId === operationId);
  if (found === undefined) throw new Error(`there is no operation ${operationId}`);
  return found;
}

function isPrintable({ type, anyOf }: JsonSchema): boolean {
  return type === "object" || anyOf?.some((one) => one.type === "object") === true;
}

function partOf(schema: JsonSchema, step: string): JsonSchema {
  const [pattern] = Object.values(schema.patternProperties ?? {});
  const found = { "[]": schema.items, "*": pattern }[step] ?? schema.properties?.[step];
  if (found !== undefined) return found;
  const inside = schema.anyOf?.flatMap((one) => ("properties" in one || "items" in one ? [partOf(one, step)] : []))[0];
  if (inside === undefined) throw new Error(`there is no ${step}`);
  return inside;
}

function sizeOf(schema: JsonSchema): number {
  return JSON.stringify(schema).length;
}

/** `message-events` has `MessageEvents`, `drafts` has `DraftsEvents`. */
function interfaceName(area: Area, kind: string): string {
  const pascal = area.name.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
  return pascal.endsWith(kind) ? pascal : `${pascal}${kind}`;
}

/** Parameters with a default are optional for the caller. */
function paramsType(printer: TypePrinter, { paramsSchema }: Endpoint): string {
  const { properties = {}, required = [] } = paramsSchema as JsonSchema;
  const fields = Object.entries(properties).map(([name, schema]) =>
    printer.field(name, schema, required.includes(name) && schema.default === undefined),
  );
  return printer.named(objectOf(fields));
}

/** The fields of `/register` that no area declares. */
function registerFields(printer: TypePrinter, endpoint: Endpoint, areas: readonly Area[]): string {
  const { properties = {}, required = [] } = endpoint.okSchema as JsonSchema;
  const declared = new Set(areas.flatMap(({ state }) => Object.keys(state)));
  const own = Object.entries(properties).filter(([name]) => !declared.has(name));
  return objectOf(own.map(([name, schema]) => printer.field(name, schema, required.includes(name))));
}

function resultType(printer: TypePrinter, endpoint: Endpoint, areas: readonly Area[]): string {
  // The client reads events itself and gives them the types of `Events`.
  if (endpoint.operationId === "get-events")
    return "{ readonly events: readonly unknown[]; readonly queue_id?: string; }";
  if (endpoint.operationId !== "register-queue") return printer.print(endpoint.okSchema as JsonSchema);
  return [registerFields(printer, endpoint, areas), ...interfacesOf("State", areas)].join(" & ");
}

function interfacesOf(kind: "Operations" | "Events" | "State", areas: readonly Area[]): string[] {
  return areas.filter((area) => kindsOf(area)[kind]).map((area) => interfaceName(area, kind));
}

function operationsOf(printer: TypePrinter, area: Area, areas: readonly Area[]): string[] {
  return area.endpoints.map(
    (endpoint) =>
      `/** ${endpoint.summary} */\n"${endpoint.method} ${endpoint.path}": {\n` +
      `readonly params: ${paramsType(printer, endpoint)};\n` +
      `readonly result: ${resultType(printer, endpoint, areas)};\n};`,
  );
}

function eventsOf(printer: TypePrinter, area: Area): string[] {
  return area.eventTypes.map((type) => {
    const forms = Object.values(wireSchemas[type] ?? {}).flat();
    const printed = forms.map((form) => printer.print(form as JsonSchema));
    return `${JSON.stringify(type)}: ${[...new Set(printed)].join(" | ")};`;
  });
}

function areaFile(printer: TypePrinter, area: Area, areas: readonly Area[]): string {
  const bodies = {
    Operations: operationsOf(printer, area, areas),
    Events: eventsOf(printer, area),
    State: Object.entries(area.state).map(([name, schema]) => printer.field(name, schema, false)),
  };
  const parts = Object.entries(bodies)
    .filter(([, fields]) => fields.length > 0)
    .map(([kind, fields]) => `export interface ${interfaceName(area, kind)} {\n${fields.join("\n")}\n}`);
  const states = area.name === "register" ? importsOfStates(areas) : "";
  const text = parts.join("\n\n");
  return `${importsOf(printer, text, area.name)}${states}${text}\n`;
}

function importsOfStates(areas: readonly Area[]): string {
  const withState = areas.filter((area) => kindsOf(area).State);
  return `${withState.map((area) => `import type { ${interfaceName(area, "State")} } from "./${area.name}.ts";`).join("\n")}\n\n`;
}

/** The file of a named type. */
function fileOf(name: string, text: string): string {
  if (text.split(";").length <= largeTypeFields) return "types";
  return `type-${name.replace(/(?<=.)([A-Z])/g, "-$1").toLowerCase()}`;
}

/** Imports of the named types that a text in `file` mentions. */
function importsOf(printer: TypePrinter, text: string, file: string): string {
  const imports = new Map<string, string[]>();
  for (const [name, type] of printer.types) {
    const from = fileOf(name, type);
    const isUsed = from !== file && new RegExp(`\\b${name}\\b`).test(text);
    if (isUsed) imports.set(from, [...(imports.get(from) ?? []), name]);
  }
  return [...imports].map(([from, names]) => `import type { ${names.join(", ")} } from "./${from}.ts";\n`).join("");
}

/** The named types, by file. */
function typeFiles(printer: TypePrinter): Map<string, string> {
  const files = new Map<string, string>();
  for (const [name, text] of printer.types) {
    const file = fileOf(name, text);
    files.set(file, `${files.get(file) ?? ""}export type ${name} = ${text};\n\n`);
  }
  return new Map([...files].map(([file, text]) => [file, importsOf(printer, text, file) + text]));
}

function errorsFile(): string {
  const codes = Object.entries(errorCodes).map(
    ([code, { status, meaning }]) => `/** ${meaning} */\n${code}: ${status};`,
  );
  return `/** The codes of errors, and the HTTP status that each of them has. */\nexport interface ErrorCodes {\n${codes.join("\n")}\n}\n\nexport type ErrorCode = keyof ErrorCodes;\n`;
}

/** What the reducer of the lists of a person must know, by the type of their events. */
function listsFile(): string {
  const lists = personalLists.map(({ event, plural, entry, idName, key }) => {
    const changed = key === undefined ? entry : "data";
    return [event, { list: plural, id: key ?? "id", entry, changed, removed: idName }];
  });
  return `/** Lists whose events add, change or remove one entry: the names of their fields. */
export const personalLists = ${JSON.stringify(Object.fromEntries(lists))} as const;\n`;
}

/** The file that combines the others. */
function indexFile(areas: readonly Area[], types: Iterable<string>): string {
  const imports = areas.map((area) => {
    const names = ["Events", "Operations"].filter((kind) => kindsOf(area)[kind as "Events" | "Operations"]);
    if (names.length === 0) return "";
    return `import type { ${names.map((kind) => interfaceName(area, kind)).join(", ")} } from "./${area.name}.ts";`;
  });
  return [
    ...imports,
    'export type { ErrorCode, ErrorCodes } from "./errors.ts";',
    ...[...types].map((file) => `export type * from "./${file}.ts";`),
    "",
    "/** Every operation by method and path, with its parameters and the fields of its answer. */",
    `export interface Operations extends ${interfacesOf("Operations", areas).join(", ")} {}`,
    "",
    "/** Every event by type. */",
    `export interface Events extends ${interfacesOf("Events", areas).join(", ")} {}`,
    "",
    textParameters(),
  ].join("\n");
}

/** Parameters that are JSON or raw text (D9). In a path they are always text. */
function textParameters(): string {
  const names = endpoints.flatMap(({ path, params }) =>
    Object.entries(params)
      .filter(([name, schema]) => wireOf(schema) === "json-or-text" && !path.includes(`{${name}}`))
      .map(([name]) => name),
  );
  const listed = [...new Set(names)].sort().map((name) => JSON.stringify(name));
  return `/** Parameters whose text the server reads as JSON if it can, so that a text such as "12" must be quoted. */\nexport const jsonOrText: ReadonlySet<string> = new Set([${listed.join(", ")}]);\n`;
}

/** Writes the files into an empty folder. */
async function generateApi(folder: string): Promise<void> {
  const modules = await readModules();
  const areas = readAreas(modules);
  const known = new Set(areas.flatMap((area) => area.eventTypes));
  const missing = eventTypes.filter((type) => !known.has(type));
  if (missing.length > 0) throw new Error(`events that no file declares: ${missing.join(", ")}`);
  const printer = new TypePrinter();
  nameTypes(printer, modules);
  mkdirSync(folder, { recursive: true });
  const types = typeFiles(printer);
  const files = new Map([
    ...areas.map((area) => [area.name, areaFile(printer, area, areas)] as const),
    ...types,
    ["errors", errorsFile()],
    ["lists", listsFile()],
    ["index", indexFile(areas, types.keys())],
  ]);
  for (const [name, text] of files) writeFileSync(join(folder, `${name}.ts`), header + text);
  const biome = join(root, "node_modules/.bin/biome");
  const configuration = `--config-path=${join(root, "biome.json")}`;
  execFileSync(biome, ["check", "--write", "--assist-enabled=true", configuration, folder], { stdio: "pipe" });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , folder = apiFolder] = process.argv;
  rmSync(folder, { recursive: true, force: true });
  await generateApi(folder);
}
