/**
 * The operations by path, as the OpenAPI document has them. OpenAPI has no two paths that differ in the names of their
 * variables only, while the server tells `/users/{user_id}` from `/users/{email}` by the value: such paths become one,
 * and their operations with the same method, too.
 */

import type { Endpoint } from "../../schemas/endpoint.ts";
import { pathVariables } from "../../schemas/endpoint.ts";
import { endpointsByArea } from "../../schemas/index.ts";

export interface DocumentedOperation {
  readonly area: string;
  /** The first one gives the operation its name; others differ in the variable of the path only. */
  readonly endpoints: readonly [Endpoint, ...Endpoint[]];
  /** Other values of the variables belong to operations with other methods. */
  readonly mayLackMethod: boolean;
}

export interface DocumentedPath {
  /** With the variables in braces, such as `/users/{user_id_or_email}`. */
  readonly template: string;
  /** The names of its variables, in order. */
  readonly variables: readonly string[];
  readonly operations: readonly DocumentedOperation[];
}

/** Paths that differ only in the names of their variables have one form. */
function formOf({ path }: Endpoint): string {
  return path.replaceAll(/\{\w+\*?\}/g, "{}");
}

type Member = readonly [area: string, endpoint: Endpoint];

function documentedPath(form: string, members: readonly Member[]): DocumentedPath {
  const names = members.map(([, { path }]) => pathVariables(path).map(({ name }) => name));
  const variables = (names[0] ?? []).map((_, index) => [...new Set(names.map((one) => one[index]))].join("_or_"));
  let index = 0;
  const template = form.replaceAll("{}", () => `{${variables[index++]}}`);
  const byMethod = new Map<string, Member[]>();
  for (const member of members) {
    const { method } = member[1];
    byMethod.set(method, [...(byMethod.get(method) ?? []), member]);
  }
  const forms = new Set(members.map(([, { path }]) => path)).size;
  const operations = [...byMethod.values()].flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    const [area, endpoint] = first;
    const endpoints = [endpoint, ...others.map(([, other]) => other)] as const;
    return [{ area, endpoints, mayLackMethod: endpoints.length < forms }];
  });
  return { template, variables, operations };
}

/** All paths, in the order of their first operations. */
export function documentedPaths(): DocumentedPath[] {
  const byForm = new Map<string, Member[]>();
  for (const member of endpointsByArea) {
    const form = formOf(member[1]);
    byForm.set(form, [...(byForm.get(form) ?? []), member]);
  }
  return [...byForm].map(([form, members]) => documentedPath(form, members));
}
