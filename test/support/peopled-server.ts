/** How most tests of the API begin: a server, and people whose names say what they are; and newcomers for tests that share nobody. */
import { type Role, roles } from "../../schemas/types.ts";
import type { Client } from "./client.ts";
import { botOf, personOf } from "./conversation.ts";
import { startTestServer, type Teardown, type TestServer, type TestServerOptions } from "./server.ts";

/** One person of each role below the owner's. */
export const everyRole = ["administrator", "moderator", "member", "guest"] as const;

type People<Name extends string> = Readonly<Record<Name, Client>>;

/** @param names who joins, in this order: whoever is called as a role has it, everybody else is a member */
export async function startPeopledServer<Name extends string>(
  t: Teardown,
  names: readonly Name[],
  options: TestServerOptions = {},
): Promise<{ readonly server: TestServer; readonly owner: Client } & People<Name>> {
  const server = await startTestServer(t, options);
  const people: [string, Client][] = [];
  for (const name of names) people.push([name, await personOf(server, name, roleOf(name))]);
  return { server, owner: server.owner, ...(Object.fromEntries(people) as People<Name>) };
}

function roleOf(name: string): Role {
  return Object.hasOwn(roles, name) ? roles[name as keyof typeof roles] : roles.member;
}

/** Somebody new at each call, so that what is a person's own is no other test's. */
export function newcomers(server: TestServer): () => Promise<Client> {
  let count = 0;
  return () => personOf(server, `somebody${++count}x`);
}

/** The owner, somebody new of every other role, and a bot: for what everybody has. */
export async function oneOfEachKind(server: TestServer): Promise<readonly Client[]> {
  const people: Client[] = [];
  for (const role of everyRole) people.push(await personOf(server, `one${role}`, roles[role]));
  return [server.owner, ...people, await botOf(server, "onebot", server.owner)];
}
