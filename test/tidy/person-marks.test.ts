/**
 * Redaction follows the marks in schemas (schemas/person-marks.ts), so a field without a mark would be sent to
 * restricted guests as it is. Every text of every answer and event must have one, and every number that could be a
 * user's id.
 */
import t from "tap";
import { planFor } from "../../domain/redaction-plan.ts";
import { wireSchemas } from "../../schemas/events.ts";
import { endpoints } from "../../schemas/index.ts";
import type { PersonMark } from "../../schemas/person-marks.ts";
import { WebhookMessage } from "../../schemas/webhooks.ts";

interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: unknown;
  readonly person?: PersonMark;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

const namesAnId = /(^|_)(ids?|to|users?|members|subscribers|sender|author|owner|creator)$/;

/** The paths in a schema that have no mark and need one. */
function unmarked(schema: Schema, path: string): string[] {
  if (schema.person !== undefined || schema.const !== undefined || schema.enum !== undefined) return [];
  if (schema.anyOf !== undefined) return schema.anyOf.flatMap((form) => unmarked(form, path));
  if (schema.properties !== undefined) {
    return Object.entries(schema.properties).flatMap(([name, inner]) => unmarked(inner, `${path}.${name}`));
  }
  if (schema.patternProperties !== undefined) {
    return Object.values(schema.patternProperties).flatMap((inner) => unmarked(inner, `${path}.*`));
  }
  if (schema.items !== undefined) return unmarked(schema.items, path);
  if (schema.type === "string" || schema.type === undefined) return [path];
  const isNumber = schema.type === "integer" || schema.type === "number";
  return isNumber && namesAnId.test(path.split(".").at(-1) ?? "") ? [path] : [];
}

/** The schema of the field at a path of schemas/person-marks.ts. */
function fieldAt(target: string, around: readonly Schema[]): Schema | undefined {
  const steps = target.split("/");
  const up = steps.filter((step) => step === "..").length;
  const start = around.at(-1 - up);
  return steps.slice(up).reduce<Schema | undefined>((schema, step) => {
    const object = schema?.items ?? schema;
    return /^\d+$/.test(step) ? object : object?.properties?.[step];
  }, start);
}

/** The paths of marks that refer to a field which the schema does not have. */
function dangling(schema: Schema, path: string, around: readonly Schema[]): string[] {
  const { person } = schema;
  if (person !== undefined && typeof person !== "string") {
    const target = person.is === "typed" ? person.by : person.is === "rendered" ? null : person.of;
    return target === null || fieldAt(target, around)?.person === "id" ? [] : [`${path}: ${target}`];
  }
  const inner = [...around, schema];
  return [
    ...(schema.anyOf ?? []).flatMap((form) => dangling(form, path, around)),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, field]) => dangling(field, `${path}.${name}`, inner)),
    ...Object.values(schema.patternProperties ?? {}).flatMap((value) => dangling(value, `${path}.*`, inner)),
    ...(schema.items === undefined ? [] : dangling(schema.items, path, around)),
  ];
}

const answers = [
  ...endpoints.map(({ operationId, okSchema }) => ({ name: operationId, form: okSchema as Schema })),
  { name: "outgoing webhook", form: WebhookMessage as Schema },
];
const events = Object.entries(wireSchemas).flatMap(([type, schemas]) =>
  Object.entries(schemas).flatMap(([op, forms]) => forms.map((form) => ({ name: `${type} ${op}`.trim(), form }))),
);

t.test("[S1] every field of an answer or an event that could show a person is marked", async (t) => {
  t.ok(answers.length > 150, `${answers.length} operations`);
  t.ok(events.length > 60, `${events.length} forms`);
  const found = [...events, ...answers].flatMap(({ name, form }) => unmarked(form, name));
  t.strictSame(found, []);
});

t.test("[S1] every mark names a field with the id of a user", async (t) => {
  const found = [...events, ...answers].flatMap(({ name, form }) => dangling(form, name, []));
  t.strictSame(found, []);
});

t.test("[S1] the answers and events that show persons have a plan of redaction", async (t) => {
  const planned = new Set(events.filter(({ form }) => planFor(form) !== null).map(({ name }) => name));
  for (const name of ["message", "update_message", "realm_user add", "reaction add", "stream update", "typing start"]) {
    t.ok(planned.has(name), name);
  }
  t.notOk(planned.has("drafts add"));
  const plannedAnswers = new Set(answers.filter(({ form }) => planFor(form) !== null).map(({ name }) => name));
  for (const name of ["register-queue", "get-message", "get-message-history", "get-users", "get-streams"]) {
    t.ok(plannedAnswers.has(name), name);
  }
  t.notOk(plannedAnswers.has("get-drafts"));
});
