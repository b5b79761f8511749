/**
 * GET /users/{user_id} and GET /users/{email} (public API: get-user, get-user-by-email; spec 4.8 for how an email
 * identifies a user).
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { type Client, type Event, expects, outcome, refusal, success } from "../support/client.ts";
import { HostClient } from "../support/http.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner } = server;
const viewers: Readonly<Record<string, Client>> = {
  owner,
  administrator: await server.user("administrator", roles.administrator),
  moderator: await server.user("moderator", roles.moderator),
  member: await server.user("member"),
  guest: await server.user("guest", roles.guest),
};
const member = viewers["member"] as Client;
const noSuchUser = refusal("No such user");

async function listed(client: Client, id: number, params = {}): Promise<Event> {
  const { body } = await client.get("/users", { ...params, user_ids: [id] });
  return body.members[0];
}

t.test("GET by id returns users, bots and deactivated accounts as in the list", async (t) => {
  const bot = await server.bot("helper", member);
  const [gone = 0] = await server.users("gone", 1);
  await owner.delete(`/users/${gone}`);
  for (const id of [1, owner.userId, member.userId, bot.userId, gone]) {
    for (const params of [{}, { client_gravatar: false }, { include_custom_profile_fields: true }]) {
      const { status, body } = await member.get(`/users/${id}`, params);
      t.strictSame({ status, body }, success({ user: await listed(member, id, params) }), `${id}`);
    }
  }
  t.ok("profile_data" in (await member.get(`/users/${gone}`, { include_custom_profile_fields: true })).body.user);
  t.notOk("profile_data" in (await member.get(`/users/${gone}`)).body.user);
});

t.test("unknown ids and emails and missing credentials are rejected", async (t) => {
  for (const path of [
    "/users/0",
    "/users/999999",
    "/users/abc",
    "/users/nobody@example.com",
    "/users/7@",
    "/users/%20",
  ]) {
    await expects(t, member.get(path), noSuchUser, path);
  }
  t.equal((await member.get(`/users/${"9".repeat(15)}`)).body.msg, "No such user");
  await expects(t, member.get(`/users/${"9".repeat(16)}`), noSuchUser, "no id, and an email that nobody has");
  const tooLong = `${"e".repeat(limits.email_code_points_max)}x`;
  await expects(
    t,
    member.get(`/users/${tooLong}`),
    `email is too long (limit: ${limits.email_code_points_max} characters)`,
  );
  await expects(t, member.get(`/users/${"e".repeat(limits.email_code_points_max)}`), noSuchUser);
  await expects(
    t,
    member.get(`/users/${owner.userId}`, { client_gravatar: "maybe" }),
    "client_gravatar is not valid JSON",
  );
  for (const path of [`/users/${member.userId}`, `/users/${owner.account?.email}`]) {
    t.equal((await owner.anonymous().get(path)).status, 401);
  }
});

t.test("[spec 4.8] the real email finds the user, in any case, only for callers who may see it", async (t) => {
  const target = await server.user("target");
  const seenBy: Readonly<Record<number, readonly string[]>> = {
    1: ["owner", "administrator", "moderator", "member", "guest", "target"],
    2: ["owner", "administrator", "moderator", "member", "target"],
    3: ["owner", "administrator", "target"],
    4: ["target"],
    5: ["owner", "administrator", "moderator", "target"],
  };
  const address = target.account?.email ?? "";
  for (const [visibility, names] of Object.entries(seenBy)) {
    server.setUser(target.userId, { email_address_visibility: Number(visibility) });
    for (const [name, viewer] of Object.entries({ ...viewers, target })) {
      for (const spelling of [address, address.toUpperCase(), encodeURIComponent(address)]) {
        const found = await viewer.get(`/users/${spelling}`);
        const title = `visibility ${visibility}, ${name}, ${spelling}`;
        if (names.includes(name)) t.equal(found.body.user?.user_id, target.userId, title);
        else t.strictSame(outcome(found), noSuchUser, title);
      }
    }
  }
});

t.test("[spec 4.8] both forms of the dummy email identify every user", async (t) => {
  const hidden = await server.user("hidden");
  server.setUser(hidden.userId, { email_address_visibility: 4 });
  const { hostname } = new URL(server.url);
  for (const client of Object.values(viewers)) {
    for (const id of [hidden.userId, owner.userId]) {
      const { body } = await client.get(`/users/${id}`);
      for (const address of [`user${id}@colloquy.invalid`, `USER${id}@Colloquy.Invalid`, `user${id}@${hostname}`]) {
        t.strictSame((await client.get(`/users/${address}`)).body, body, address);
      }
    }
  }
  const named = new HostClient(member, "chat.example.org:9991");
  t.equal((await named.get(`/users/user${hidden.userId}@chat.example.org`)).body.user.user_id, hidden.userId);
  for (const address of ["user@", "user0@", "user-1@", "user01@", "user999999@", "xuser2@", "user2 @"]) {
    await expects(t, member.get(`/users/${encodeURIComponent(`${address}colloquy.invalid`)}`), noSuchUser);
  }
  await expects(t, member.get(`/users/user${hidden.userId}@elsewhere.example.org`), noSuchUser);
});

t.test("[spec 4.8] emails with plus signs, percent signs and non-ASCII letters work in a path", async (t) => {
  for (const address of [
    "a+b@example.com",
    "50%25@example.com",
    "grüße@example.com",
    "a/b@example.com",
    "a?b#c@example.com",
  ]) {
    const made = await owner.post("/users", { email: address, password: "12345678", full_name: "Odd" });
    t.equal(made.status, 200, address);
    const found = await member.get(`/users/${encodeURIComponent(address)}`);
    t.strictSame([found.body.user?.user_id, found.body.user?.delivery_email], [made.body.user_id, address]);
  }
  const plus = await member.get("/users/a+b@example.com");
  t.equal(plus.body.user?.delivery_email, "a+b@example.com", "a plus in a path is a plus");
  await expects(t, member.get("/users/a%2@example.com"), "Malformed percent-encoding in the path");
});

t.test("[S1] an account with an email like a dummy of this host is found only by that email", async (t) => {
  const { hostname } = new URL(server.url);
  const address = `user${owner.userId}@${hostname}`;
  const twin = await owner.post("/users", { email: address, password: "12345678", full_name: "Twin" });
  t.equal((await member.get(`/users/${address}`)).body.user.user_id, twin.body.user_id);
  server.setUser(twin.body.user_id, { email_address_visibility: 4 });
  await expects(t, owner.get(`/users/${address}`), noSuchUser);
  const reserved = { email: `User${owner.userId}@colloquy.invalid`, password: "12345678", full_name: "Thief" };
  await expects(t, owner.post("/users", reserved), "Email is already in use.");
});
