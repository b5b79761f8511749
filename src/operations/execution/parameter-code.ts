/**
 * Generates the function that reads the parameters of one endpoint. Straight-line code with constant names gives V8 one
 * hidden class for each endpoint; a loop over declarations, shared by all endpoints, writes names that it cannot know.
 */
import { type Refusal, refuse } from "../../../schemas/errors.ts";
import { newValueBudget, type ValueBudget } from "../../../schemas/json.ts";
import type { Parameters } from "../calls.ts";

export type Decoded = { readonly value: unknown } | { readonly refusal: Refusal };

/** How the generated code decodes a value by itself; null: it calls `decode`. */
export type PlainType = "text" | "integer" | "boolean" | null;

/** How one parameter is read. */
export interface Step {
  readonly name: string;
  /** An alternative name. */
  readonly alias: string | null;
  /** Position among the variables of the path; -1 for a submitted parameter. */
  readonly pathIndex: number;
  readonly isRequired: boolean;
  readonly hasDefault: boolean;
  readonly fallback: unknown;
  readonly plainType: PlainType;
  /** @param budget the values of JSON that the request may still contain */
  decode(text: string, budget: ValueBudget): Decoded;
}

export interface ReadParams {
  readonly params: Readonly<Record<string, unknown>>;
  /** How many of the submitted names were read: if it is all of them, none is ignored. */
  readonly taken: number;
}

export type ReadValues = (submitted: Parameters, path: readonly string[]) => ReadParams | { readonly refusal: Refusal };

/** The functions that the generated code calls. */
interface Helpers {
  readonly steps: readonly Step[];
  readonly confusing: (step: Step) => { readonly refusal: Refusal };
  readonly missing: (step: Step) => { readonly refusal: Refusal };
  readonly newValueBudget: () => ValueBudget;
}

export function generateRead(steps: readonly Step[]): ReadValues {
  const helpers: Helpers = {
    steps,
    confusing: ({ name, alias }) => ({ refusal: refuse.confusing(name, alias ?? name) }),
    missing: ({ name }) => ({ refusal: refuse.missing(name) }),
    newValueBudget,
  };
  // Only names of our own declarations become part of the code, as quoted strings.
  return new Function("helpers", codeOf(steps))(helpers) as ReadValues;
}

/**
 * Parameters are set in the order of their declaration, which stored Idempotency-Keys depend on (D25). An absent one
 * has no property. The constructor gives the object room for all of them.
 */
function codeOf(steps: readonly Step[]): string {
  return `"use strict";
const { steps, confusing, missing, newValueBudget } = helpers;
const isInteger = /^-?\\d{1,15}$/;
function Params() {}
Params.prototype = Object.prototype;
return function read(submitted, path) {
  const params = new Params();
  let taken = 0;
  let given, aliased, decoded, budget;
${steps.map(readCode).join("")}
  return { params, taken };
};`;
}

function readCode(step: Step, index: number): string {
  const isInPath = step.pathIndex >= 0;
  const source = isInPath ? `path[${step.pathIndex}]` : `submitted.get(${JSON.stringify(step.name)})`;
  return `
  given = ${source};
${step.alias === null ? "" : aliasCode(step.alias, index, isInPath)}
  if (given !== undefined) {
    ${valueCode(step, index)}
    ${isInPath ? "" : "taken++;"}
  } else {
    ${absentCode(step, index)}
  }
`;
}

function aliasCode(alias: string, index: number, isInPath: boolean): string {
  return `
  aliased = submitted.get(${JSON.stringify(alias)});
  if (aliased !== undefined) {
    if (given !== undefined) return confusing(steps[${index}]);
    given = aliased;
    ${isInPath ? "taken++;" : ""}
  }`;
}

function absentCode({ name, isRequired, hasDefault }: Step, index: number): string {
  if (isRequired) return `return missing(steps[${index}]);`;
  return hasDefault ? `params[${JSON.stringify(name)}] = steps[${index}].fallback;` : "";
}

/** A string is text, as in a form; another value of a frame is what the text of its JSON would mean. */
function valueCode({ name, plainType }: Step, index: number): string {
  const target = `params[${JSON.stringify(name)}]`;
  const decode = `
    decoded = steps[${index}].decode(given, (budget ??= newValueBudget()));
    if ("refusal" in decoded) return decoded;
    ${target} = decoded.value;`;
  switch (plainType) {
    case "text":
      return `${target} = typeof given === "string" ? given : JSON.stringify(given);`;
    case "integer":
      // Adding zero turns -0 into 0.
      return `
    if (typeof given === "number") ${target} = given + 0;
    else if (typeof given !== "string") ${target} = given;
    else if (isInteger.test(given)) ${target} = Number(given) + 0;
    else {${decode}}`;
    case "boolean":
      return `
    if (typeof given !== "string") ${target} = given;
    else if (given === "true") ${target} = true;
    else if (given === "false") ${target} = false;
    else {${decode}}`;
    case null:
      return `if (typeof given !== "string") ${target} = given; else {${decode}}`;
    default:
      return plainType satisfies never;
  }
}
