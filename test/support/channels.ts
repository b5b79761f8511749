/**
 * Helpers for tests of PATCH /streams/{stream_id}: users of every role, new channels, and rejections that change
 * nothing.
 */
import type { Test } from "tap";
import { roles } from "../../schemas/types.ts";
import { type Client, expects, type Params, refusal } from "./client.ts";
import { startTestServer, type Teardown } from "./server.ts";

/** Users as a group-setting value. */
export function named(...clients: readonly Client[]) {
  return { direct_members: clients.map(({ userId }) => userId), direct_subgroups: [] as number[] };
}

export async function startChannelServer(t: Teardown) {
  const server = await startTestServer(t);
  server.setRealm({ enable_spectator_access: true });
  const { owner } = server;
  let made = 0;

  /** A new channel of the owner, with the owner subscribed. */
  function channel(params: Params = {}, subscribers: readonly Client[] = [owner]): Promise<number> {
    made++;
    return owner.createChannel(`channel ${made}`, subscribers, params);
  }

  function patch(id: number, params: Params, by: Client = owner) {
    return by.patch(`/streams/${id}`, params);
  }

  async function record(id: number) {
    return (await owner.get(`/streams/${id}`)).body.stream;
  }

  /** @param code the error code, BAD_REQUEST by default */
  async function refuses(t: Test, id: number, params: Params, msg: string, by = owner, code = "BAD_REQUEST") {
    const before = await record(id);
    await expects(t, patch(id, params, by), refusal(msg, code), msg);
    t.strictSame(await record(id), before, `nothing is changed: ${msg}`);
  }

  return {
    server,
    owner,
    administrator: await server.user("administrator", roles.administrator),
    moderator: await server.user("moderator", roles.moderator),
    member: await server.user("member"),
    guest: await server.user("guest", roles.guest),
    group: (name: string) => server.group(`role:${name}`),
    channel,
    patch,
    record,
    refuses,
  };
}
