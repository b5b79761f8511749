/** Creating and listing bots (public API: /bots; behaviour 1.9, 10, 11). Changes are tested in bot-changes.test.ts. */
import t from "tap";
import { command } from "../../actors/protocol/decision.ts";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { makeBot } from "../support/bots.ts";
import { type Client, expects, outcome, type Params, refusal, success } from "../support/client.ts";
import { HostClient } from "../support/http.ts";
import { everyRole, startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, administrator, moderator, member, guest } = await startServerWithUsers(t, [
  ...everyRole,
  "outsider",
]);
const people = { owner, administrator, moderator, member, guest };

const insufficient = refusal("Insufficient permission");
const notForGuests = refusal("Not allowed for guest users");
const notForBots = refusal("This endpoint does not accept bot requests.");

const url = "https://example.com/hook";

t.test("a new bot gets an email made of its short name and the host, and a key that works", async (t) => {
  const { bot, answer } = await makeBot(member, "helper");
  t.strictSame(outcome(answer), {
    status: 200,
    body: {
      result: "success",
      msg: "",
      user_id: bot.userId,
      email: "helper-bot@127.0.0.1",
      api_key: answer.body.api_key,
      avatar_url: answer.body.avatar_url,
      default_sending_stream: null,
      default_events_register_stream: null,
      default_all_public_streams: false,
    },
  });
  t.match(answer.body.api_key, /^[A-Za-z0-9]{32}$/);
  t.match(answer.body.avatar_url, /^https:/);
  t.match((await bot.get("/users/me")).body, {
    user_id: bot.userId,
    full_name: "The helper",
    is_bot: true,
    bot_type: 1,
    bot_owner_id: member.userId,
    role: roles.member,
    email: "helper-bot@127.0.0.1",
  });
  const sent = await bot.post("/messages", { type: "channel", to: "general", topic: "t", content: "hi" });
  t.equal(sent.status, 200);
});

t.test("the email ends in the host that the client calls, which /register returns as the domain", async (t) => {
  const called = { Host: "chat.example.org:9991" };
  const { body } = await member.post("/register", { fetch_event_types: ["realm"] });
  t.equal(body.realm_bot_domain, "127.0.0.1");
  const there = new HostClient(member, called.Host);
  const made = await there.post("/bots", { full_name: "Away", short_name: "away" });
  t.equal(made.body.email, "away-bot@chat.example.org");
  const nowhere = new HostClient(member, "[::1]:9991");
  const local = await nowhere.post("/bots", { full_name: "Local", short_name: "local" });
  t.equal(local.body.email, "local-bot@colloquy.invalid", "no email can end in this host");
});

t.test("[behaviour 1.9] two group settings decide who may create which bots; guests and bots never may", async (t) => {
  const { bot } = await makeBot(owner, "maker");
  const make = async (by: Client, type: number, name: string) => {
    const params = { full_name: name, short_name: name.toLowerCase(), bot_type: type, payload_url: url };
    return outcome(await by.post("/bots", params));
  };
  const everybody = { ...people, bot };
  const no: Readonly<Record<string, object>> = { guest: notForGuests, bot: notForBots };
  const table: readonly (readonly [group: string, writeOnly: string, allowed: readonly string[], readonly string[]])[] =
    [
      ["role:members", "role:members", ["owner", "administrator", "moderator", "member"], []],
      ["role:moderators", "role:members", ["owner", "administrator", "moderator"], ["member"]],
      ["role:administrators", "role:moderators", ["owner", "administrator"], ["moderator"]],
      ["role:nobody", "role:owners", [], ["owner"]],
      ["role:nobody", "role:nobody", [], []],
    ];
  for (const [row, [full, writeOnly, allowed, writers]] of table.entries()) {
    server.setRealm({
      can_create_bots_group: server.group(full),
      can_create_write_only_bots_group: server.group(writeOnly),
    });
    for (const [name, client] of Object.entries(everybody)) {
      for (const type of [1, 2, 3]) {
        const mayMake = allowed.includes(name) || (type === 2 && writers.includes(name));
        const got = await make(client, type, `B${row}${name}${type}`);
        if (mayMake) t.equal(got.status, 200, `${name} ${type} ${full}`);
        else t.strictSame(got, no[name] ?? insufficient, `${name} ${type} ${full} ${writeOnly}`);
      }
    }
  }
  server.setRealm({
    can_create_bots_group: server.group("role:members"),
    can_create_write_only_bots_group: server.group("role:members"),
  });
});

t.test("each invalid request is rejected with the exact error message and creates nothing", async (t) => {
  await makeBot(member, "taken");
  await owner.createChannel("secret", [owner], { invite_only: true });
  const changes = await owner.watchChanges();
  const good = { full_name: "Refused", short_name: "refused" };
  const long = (length: number) => "n".repeat(length);
  const badName = refusal("Bad name or username");
  const cases: readonly (readonly [Params, object])[] = [
    [{ full_name: "The taken" }, refusal("Name is already in use!")],
    [{ full_name: "  The taken " }, refusal("Name is already in use!")],
    [{ full_name: "outsider 0" }, refusal("Name is already in use!")],
    [{ short_name: "taken" }, refusal("Username already in use")],
    [{ short_name: "TAKEN" }, refusal("Username already in use")],
    [{ short_name: "" }, badName],
    [{ short_name: "  " }, badName],
    [{ short_name: "a b" }, badName],
    [{ short_name: "a@b" }, badName],
    [{ short_name: long(limits.email_code_points_max - "-bot@127.0.0.1".length + 1) }, badName],
    [{ full_name: "" }, refusal("Name too short!")],
    [{ full_name: long(limits.full_name_code_points_max + 1) }, refusal("Name too long!")],
    [{ full_name: "a@b" }, refusal("Invalid characters in name!")],
    [{ bot_type: 0 }, refusal("Invalid bot type")],
    [{ bot_type: 5 }, refusal("Invalid bot type")],
    [{ bot_type: 4 }, refusal("Embedded bots are not enabled.")],
    [{ bot_type: "x" }, refusal("bot_type is not valid JSON")],
    [{ bot_type: true }, refusal("bot_type is not an integer")],
    [{ bot_type: 2, service_name: "github" }, refusal("Invalid integration 'github'.")],
    [
      { bot_type: 3 },
      refusal("Missing 'payload_url' argument", "REQUEST_VARIABLE_MISSING", 400, { var_name: "payload_url" }),
    ],
    ...[
      "",
      "example.com",
      "ftp://example.com",
      "javascript:alert(1)",
      "http://",
      "http:///x",
      "http://a b",
      "https://a\n",
    ].map((bad) => [{ bot_type: 3, payload_url: bad }, refusal("payload_url is not a URL")] as const),
    [{ bot_type: 3, payload_url: "7" }, refusal("payload_url is not a string")],
    [
      { bot_type: 3, payload_url: `https://e.com/${long(limits.url_code_points_max - 13)}` },
      refusal(`payload_url is too long (limit: ${limits.url_code_points_max} characters)`),
    ],
    [
      { service_name: long(limits.bot_service_name_code_points_max + 1) },
      refusal(`service_name is too long (limit: ${limits.bot_service_name_code_points_max} characters)`),
    ],
    [{ interface_type: 0 }, refusal("Invalid interface type")],
    [{ interface_type: 3 }, refusal("Invalid interface type")],
    [{ default_sending_stream: "nowhere" }, refusal("Invalid channel name 'nowhere'")],
    [{ default_sending_stream: "secret" }, refusal("Invalid channel name 'secret'")],
    [{ default_events_register_stream: "secret" }, refusal("Invalid channel name 'secret'")],
    [{ default_all_public_streams: "yes" }, refusal("default_all_public_streams is not valid JSON")],
  ];
  for (const [params, expected] of cases) {
    await expects(t, member.post("/bots", { ...good, ...params }), expected, JSON.stringify(params));
  }
  for (const name of ["full_name", "short_name"]) {
    const expected = refusal(`Missing '${name}' argument`, "REQUEST_VARIABLE_MISSING", 400, { var_name: name });
    await expects(t, member.post("/bots", { ...good, [name]: undefined }), expected);
  }
  t.strictSame(await changes(), []);
});

t.test("[S3] names and URLs at their bounds are accepted; the name of a deactivated bot is free again", async (t) => {
  const short = "s".repeat(limits.email_code_points_max - "-bot@127.0.0.1".length);
  const payload = `https://e.com/${"p".repeat(limits.url_code_points_max - 14)}`;
  const { bot } = await makeBot(member, short, {
    full_name: "🤖".repeat(limits.full_name_code_points_max),
    bot_type: 3,
    payload_url: payload,
    service_name: "n".repeat(limits.bot_service_name_code_points_max),
  });
  t.equal((await member.delete(`/bots/${bot.userId}`)).status, 200);
  await makeBot(member, "another", { full_name: "🤖".repeat(limits.full_name_code_points_max) });
});

t.test("[S3] bots_per_owner_max limits the bots of a user, whatever their kind", async (t) => {
  const collector = await server.user("collector");
  const { view } = server.realm;
  const make = (index: number) =>
    server.realm.dispatcher.ask(
      command(
        { actor: "realm" },
        "bot.create",
        {
          email: `c${index}-bot@127.0.0.1`,
          fullName: `C ${index}`,
          botType: 1,
          apiKeyHash: `c${index}`,
          service: null,
          defaultSendingChannel: null,
          defaultEventsChannel: null,
          isAllPublicByDefault: false,
        },
        collector.userId,
      ),
    );
  await Promise.all(Array.from({ length: limits.bots_per_owner_max - 1 }, (_, index) => make(index)));
  t.equal((await make(-1)).kind, "ok", "the last one");
  t.equal(view.bots.ofOwner(collector.userId).size, limits.bots_per_owner_max);
  t.equal((await collector.delete(`/bots/${[...view.bots.ofOwner(collector.userId)][0]}`)).status, 200);
  t.equal((await make(-3)).kind, "ok", "deactivated bots do not count");
  t.match(await make(-2), { kind: "refused", msg: "Too many bots" });
  const { bot } = await makeBot(member, "surplus");
  const given = await member.patch(`/bots/${bot.userId}`, { bot_owner_id: collector.userId });
  t.strictSame(outcome(given), refusal("Too many bots"));
  const [first] = view.bots.ofOwner(collector.userId);
  await expects(t, collector.post(`/users/${first}/reactivate`), "Too many bots", "nor come back");
  const ended = await owner.delete(`/users/${collector.userId}`);
  t.equal(ended.status, 200, "all of them are deactivated with their owner, in one turn");
  t.ok([...view.bots.ofOwner(collector.userId)].every((id) => view.users.get(id)?.isActive === false));
});

t.test("[M7] of two concurrent requests for one name, one is rejected", async (t) => {
  const twins = await Promise.all(
    ["twin", "Twin"].map((short) => member.post("/bots", { full_name: `Twin ${short}`, short_name: short })),
  );
  t.strictSame(twins.map(({ status }) => status).sort(), [200, 400]);
});

t.test("[S2] GET /bots lists the caller's active bots without their keys", async (t) => {
  const keeper = await server.user("keeper");
  await expects(t, keeper.get("/bots"), success({ bots: [] }));
  const { bot: second } = await makeBot(keeper, "second", { bot_type: 2, default_sending_stream: "general" });
  const { bot: gone } = await makeBot(keeper, "gone");
  await keeper.delete(`/bots/${gone.userId}`);
  const { status, body } = await keeper.get("/bots");
  t.strictSame(
    { status, body },
    success({
      bots: [
        {
          user_id: second.userId,
          username: "second-bot@127.0.0.1",
          full_name: "The second",
          bot_type: 2,
          api_key: "",
          avatar_url: body.bots[0]?.avatar_url,
          default_sending_stream: "general",
          default_events_register_stream: null,
          default_all_public_streams: false,
        },
      ],
    }),
  );
  t.notOk((await owner.get("/bots")).body.bots.some((bot: { user_id: number }) => bot.user_id === second.userId));
  await expects(t, guest.get("/bots"), notForGuests);
  const { bot } = await makeBot(keeper, "curious");
  await expects(t, bot.get("/bots"), notForBots);
});
