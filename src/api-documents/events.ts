/** The events of schemas/events.ts as components of a document: one for each form of each type and op. */
import { wireSchemas } from "../../schemas/events.ts";
import type { JsonSchema, SchemaBook } from "./json-schema.ts";
import { pascalCase } from "./words.ts";

/** The component of an event: `stream` with the op `create` is `StreamCreateEvent`; further forms have numbers. */
function nameOf(type: string, op: string, form: number): string {
  return `${pascalCase(type)}${pascalCase(op)}Event${form === 0 ? "" : form + 1}`;
}

/** @returns references to the components, in the order of the list */
export function nameEvents(book: SchemaBook): JsonSchema[] {
  return Object.entries(wireSchemas).flatMap(([type, ops]) =>
    Object.entries(ops).flatMap(([op, forms]) => forms.map((form, index) => book.name(form, nameOf(type, op, index)))),
  );
}
