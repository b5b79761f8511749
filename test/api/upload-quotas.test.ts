/**
 * The upload quota of a user (S3, D224; public API: REALM_UPLOAD_QUOTA) through deletions, failures, restarts and
 * expiry.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { attachmentsOf, sendFile, uploaded } from "../support/attachments.ts";
import { Client, outcome, refusal } from "../support/client.ts";
import { startClockedServer } from "../support/realtime-clock.ts";
import { startTestServer, type TestServer, temporaryFolder } from "../support/server.ts";

const mebibyte = 1024 * 1024;
const environment = { UPLOAD_QUOTA_PER_USER_MIB: "2", UPLOAD_QUOTA_MIB: "5" };
const over = refusal("Upload would exceed your own upload quota.", "REALM_UPLOAD_QUOTA");

async function upload(client: Client, bytes: number) {
  const answer = await sendFile(client, Buffer.alloc(bytes));
  return answer.status === 200 ? 200 : outcome(answer);
}

function usage(server: TestServer, { userId }: Client): number | undefined {
  return server.realm.view.row("uploadUsage", userId)?.bytes;
}

t.test("[S3] UPLOAD_QUOTA_PER_USER_MIB: a file that fits is stored, one byte more is rejected", async (t) => {
  const server = await startTestServer(t, { environment });
  const [ada, bob] = [await server.user("ada"), await server.user("bob")];
  t.equal(await upload(ada, mebibyte), 200);
  t.strictSame(await upload(ada, mebibyte + 1), over);
  t.equal(usage(server, ada), mebibyte, "a rejected file does not count");
  t.equal(await upload(ada, mebibyte), 200, "at the bound");
  t.strictSame(await upload(ada, 1), over);
  t.equal(await upload(bob, 2 * mebibyte), 200, "every user has their own quota");
  t.strictSame(
    await upload(server.owner, mebibyte + 1),
    refusal("Upload would exceed your organization's upload quota.", "REALM_UPLOAD_QUOTA"),
    "the organization has its own quota",
  );
  const [file] = await attachmentsOf(ada);
  await ada.delete(`/attachments/${file.id}`);
  t.equal(usage(server, ada), mebibyte);
  t.equal(await upload(ada, mebibyte), 200, "deleting a file frees space");
});

t.test("[D272, S3] upload_charged_bytes_min: the quota bounds the number of small files, too", async (t) => {
  const server = await startTestServer(t, { environment: { UPLOAD_QUOTA_PER_USER_MIB: "1" } });
  const ada = await server.user("ada");
  const most = mebibyte / limits.upload_charged_bytes_min;
  for (let count = 0; count < most; count++) t.equal(await upload(ada, count % 2), 200);
  t.strictSame(await upload(ada, 1), over, "one more");
  const [file] = await attachmentsOf(ada);
  await ada.delete(`/attachments/${file.id}`);
  t.equal(await upload(ada, limits.upload_charged_bytes_min), 200);
  t.strictSame(await upload(ada, 1), over);
});

t.test("[S3] bots share the quota of their owner", async (t) => {
  const server = await startTestServer(t, { environment });
  const ada = await server.user("ada");
  const [one, two] = [await server.bot("one", ada), await server.bot("two", ada)];
  t.equal(await upload(one, mebibyte), 200);
  t.equal(await upload(two, mebibyte), 200);
  t.strictSame(await upload(two, 1), over);
  t.strictSame(await upload(ada, 1), over);
});

t.test("[S3] the quota is correct after a restart, also for files from before quotas existed", async (t) => {
  const dataDir = temporaryFolder(t);
  const first = await startTestServer(t, { dataDir, environment });
  const ada = await first.user("ada");
  await uploaded(ada, Buffer.alloc(mebibyte));
  const { lmdb: store } = first.realm;
  store.transaction(() => store.remove("uploadUsage", ada.userId));
  await first.stop();
  const second = await startTestServer(t, { dataDir, environment });
  const again = new Client(second.url, ada.account);
  t.strictSame(await upload(again, mebibyte + 1), over);
  t.equal(await upload(again, mebibyte), 200);
  t.equal(usage(second, ada), 2 * mebibyte);
});

t.test("[S3] a file that expires unclaimed frees space", async (t) => {
  const { server, clock } = await startClockedServer(t, { environment });
  const ada = await server.user("ada");
  t.equal(await upload(ada, 2 * mebibyte), 200);
  clock.jump(limits.upload_kept_unclaimed_ms + limits.timer_sleep_ms_max);
  await server.realm.dispatcher.idle();
  t.equal(usage(server, ada), 0);
  t.equal(await upload(ada, 2 * mebibyte), 200);
});
