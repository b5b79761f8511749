/**
 * The start of most API tests: a server with users named after their roles, and new users for tests that must not share
 * one.
 */
import { type Role, roles } from "../../schemas/types.ts";
import type { Client } from "./client.ts";
import { startTestServer, type Teardown, type TestServer, type TestServerOptions } from "./server.ts";

/** One user of each role below owner. */
export const everyRole = ["administrator", "moderator", "member", "guest"] as const;

type People<Name extends string> = Readonly<Record<Name, Client>>;

/** @param names of the users, in joining order: a user named like a role has that role, others are members */
export async function startServerWithUsers<Name extends string>(
  t: Teardown,
  names: readonly Name[],
  options: TestServerOptions = {},
): Promise<{ readonly server: TestServer; readonly owner: Client } & People<Name>> {
  const server = await startTestServer(t, options);
  const people: [string, Client][] = [];
  for (const name of names) people.push([name, await server.user(name, roleOf(name))]);
  return { server, owner: server.owner, ...(Object.fromEntries(people) as People<Name>) };
}

function roleOf(name: string): Role {
  return Object.hasOwn(roles, name) ? roles[name as keyof typeof roles] : roles.member;
}

/** A new user for each call, so that no two tests share a user's data. */
export function newUsers(server: TestServer): () => Promise<Client> {
  let count = 0;
  return () => server.user(`somebody${++count}x`);
}

/** The owner, a new user of every other role, and a bot: for features that are available to everyone. */
export async function oneOfEachKind(server: TestServer): Promise<readonly Client[]> {
  const people: Client[] = [];
  for (const role of everyRole) people.push(await server.user(`one${role}`, roles[role]));
  return [server.owner, ...people, await server.bot("onebot", server.owner)];
}
