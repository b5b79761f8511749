/**
 * Who asks late (E2, S1): between an event and its reading people came to know of its channel, or by another right than then, the
 * channel was archived and came back, addresses were hidden, channels left. What a client makes of it is a fresh state, each thing told
 * once, and nothing is told that may not be seen by then. What is told live is compared, too.
 */
import t from "tap";
import { roles } from "../../schemas/types.ts";
import type { Client, Params } from "../support/client.ts";
import { createChannel, personOf, setRealmSettings, systemGroup } from "../support/conversation.ts";
import { createGroup } from "../support/groups.ts";
import { type Event, openQueue, readNow } from "../support/realtime.ts";
import { startTestServer } from "../support/server.ts";
import { type Stage, watch } from "../support/watch.ts";

const quietly = { send_new_subscription_messages: false };

async function done(answer: Promise<{ readonly status: number; readonly body: unknown }>): Promise<void> {
  const { status, body } = await answer;
  if (status !== 200) throw new Error(JSON.stringify(body));
}

function invite(by: Client, name: string, person: Client) {
  return done(
    by.post("/users/me/subscriptions", { subscriptions: [{ name }], principals: [person.userId], ...quietly }),
  );
}

function change(by: Client, id: number, params: Params) {
  return done(by.patch(`/streams/${id}`, params));
}

function setRole(by: Client, person: Client, role: number) {
  return done(by.patch(`/users/${person.userId}`, { role }));
}

const as = (role: number) => (stage: Stage) => setRole(stage.owner, stage.member, role);

t.test("[E2, S1] who knows of a channel already, and gets one right more to it, has it made once", (t) =>
  watch(t, async ({ owner, member, other }) => {
    const secret = { invite_only: true };
    const opened = await createChannel(owner, "opened", [owner, other], secret);
    await change(owner, opened, { description: "among us" });
    await change(owner, opened, { is_private: false });
    const joined = await createChannel(owner, "joined", [owner, other], secret);
    await change(owner, joined, { new_name: "joined later" });
    await invite(owner, "joined later", member);
    await change(owner, joined, { description: "with all" });
    await setRole(owner, member, roles.administrator);
    await change(owner, joined, { description: "with an administrator" });
  }),
);

t.test("[E2, S1] the same by a group that holds the channel", (t) =>
  watch(t, async ({ owner, member, other }) => {
    const holders = await createGroup(owner, "holders", [owner]);
    const secret = { invite_only: true, can_administer_channel_group: holders };
    const joined = await createChannel(owner, "held", [owner, other], secret);
    await change(owner, joined, { description: "before" });
    await invite(owner, "held", member);
    const opened = await createChannel(owner, "held and opened", [owner, other], secret);
    await change(owner, opened, { is_private: false });
    await done(owner.post(`/user_groups/${holders}/members`, { add: [member.userId] }));
    await change(owner, opened, { description: "after" });
  }),
);

t.test("[E2, S1] a guest who joins a public channel, and is a member later, has it made once", (t) =>
  watch(
    t,
    async ({ owner, member, other }) => {
      const joined = await createChannel(owner, "joined", [owner]);
      await invite(owner, "joined", other);
      await invite(owner, "joined", member);
      const web = await createChannel(owner, "web", [owner, other]);
      await change(owner, web, { is_web_public: true });
      await setRole(owner, member, roles.member);
      await change(owner, joined, { description: "known to members" });
    },
    async (stage) => {
      setRealmSettings(stage.server, { enable_spectator_access: true });
      await as(roles.guest)(stage);
    },
  ),
);

t.test(
  "[E2] who knew a channel by their role, and knows it by being in it now, misses nothing of the time before",
  (t) => {
    let id = 0;
    return watch(
      t,
      async ({ owner, member }) => {
        await change(owner, id, { new_name: "known by another name", description: "to administrators" });
        await invite(owner, "known by another name", member);
        await setRole(owner, member, roles.member);
        await change(owner, id, { message_retention_days: 7 });
      },
      async (stage) => {
        id = await createChannel(stage.owner, "known", [stage.owner, stage.other], { invite_only: true });
        await as(roles.administrator)(stage);
      },
    );
  },
);

t.test("[behaviour 4.3] what happened to a channel while it was archived is not told when it is back", (t) => {
  let [ids, hidden]: [number[], number] = [[], 0];
  return watch(
    t,
    async ({ server, owner, member, other }) => {
      for (const id of [...ids, hidden]) await done(owner.delete(`/streams/${id}`));
      await invite(owner, "slept in", member);
      await invite(owner, "slept in", other);
      await change(owner, hidden, { can_subscribe_group: { new: systemGroup(server, "role:members") } });
      await setRole(owner, member, roles.guest);
      await setRole(owner, member, roles.member);
      for (const id of [...ids, hidden]) await change(owner, id, { is_archived: false });
      await change(owner, hidden, { description: "awake" });
    },
    async ({ owner, other }) => {
      ids = [await createChannel(owner, "slept in", [owner]), await createChannel(owner, "asleep", [owner, other])];
      hidden = await createChannel(owner, "hidden", [owner, other], { invite_only: true });
    },
  );
});

t.test("[S1] a queue for all public channels is not told what was written before a channel was one", async (t) => {
  const server = await startTestServer(t);
  const { owner } = server;
  const reader = await personOf(server, "reader");
  const id = await createChannel(owner, "private", [owner], { invite_only: true });
  const queue = await openQueue(reader, ["message"], { all_public_streams: true });
  await owner.say("general", "waiting", "from here on all is asked of the log");
  await owner.say(id, "t", "among us");
  await change(owner, id, { is_private: false });
  await owner.say(id, "t", "to all");
  const told = (await readNow(reader, queue)).map(({ message }: Event) => message.content);
  t.strictSame(
    told.filter((content: string) => /among us|to all/.test(content)),
    ["to all"],
  );
});
