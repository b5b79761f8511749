/** The journal of a realm on JetStream: the contract of every journal, and what replication adds to it. */
import t, { type Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import { claimBehind, claimRealm, headOf } from "../../src/durability/cluster/claim.ts";
import { RealmLog } from "../../src/durability/cluster/realm-log.ts";
import { StreamJournal } from "../../src/durability/cluster/stream-journal.ts";
import { openStreams } from "../../src/durability/cluster/streams.ts";
import type { JournalLost, Recorded } from "../../src/durability/journal/journal.ts";
import { storeVersion } from "../../src/store/migrations.ts";
import { appendAll, DurableWatch, journalContract, sameRecords } from "../journal/contract.ts";
import { NatsCluster, natsObstacle } from "./nats.ts";
import { readAll } from "./read-all.ts";

const obstacle = natsObstacle();
if (obstacle !== null) t.plan(0, obstacle);
else {
  const cluster = await NatsCluster.start(t);
  const nats = await cluster.connect(t);
  const streams = await openStreams(nats, { streams: 2 });
  let realms = 0;
  const newLog = (realmId = ++realms) => new RealmLog(nats, streams, realmId);

  const openJournal = async (t: Test, log: RealmLog): Promise<StreamJournal> => {
    const claim = await claimRealm(log, { node: "a", storeVersion });
    return new StreamJournal({ log, claim, fatal: (error) => t.fail(error.message) });
  };

  journalContract(t, (t) => {
    const log = newLog();
    return { realms: [log.realmId], open: () => openJournal(t, log), readBack: () => readAll(log) };
  });

  t.test("after a claim the earlier owner is refused, announces nothing more, and is lost", async (t) => {
    const log = newLog();
    const first = await LosableJournal.open(log);
    const expected = appendAll(first.journal, [10, 20], [log.realmId]);
    await new DurableWatch(first.journal).until(2);
    const second = await openJournal(t, log);
    t.equal(second.epoch, 2);
    t.equal(second.appended, 2, "it continues after everything that was acknowledged");
    const watch = new DurableWatch(first.journal);
    appendAll(first.journal, [30], [log.realmId]);
    const { reason, message } = await first.lost;
    t.equal(reason, "takenOver");
    t.match(message, /Another node took over organization/);
    t.strictSame([first.journal.durable, watch.notices], [2, []]);
    await t.rejects(first.journal.close(), { name: "JournalLost" }, "it cannot close in order");
    expected.push(...appendAll(second, [40], [log.realmId]));
    await second.close();
    sameRecords(t, await readAll(log), expected, "only what was acknowledged");
  });

  t.test("of many nodes that claim a realm at once, each gets an epoch of its own, the last one owns it", async (t) => {
    const log = newLog();
    const journals = await Promise.all(Array.from({ length: 5 }, () => LosableJournal.open(log)));
    const epochs = journals.map(({ journal }) => journal.epoch).toSorted((a, b) => a - b);
    t.strictSame(epochs, [1, 2, 3, 4, 5]);
    const owner = journals.find(({ journal }) => journal.epoch === 5)?.journal;
    for (const { journal } of journals) journal.append(log.realmId, Buffer.of(journal.epoch));
    const others = journals.filter(({ journal }) => journal !== owner);
    await Promise.all([owner?.close(), ...others.map(({ lost }) => lost)]);
    const found = await readAll(log);
    const seen = found.map(({ bytes }) => [...bytes]);
    t.strictSame(seen, [[5]]);
  });

  t.test("a claim whose acknowledgement comes late has its epoch, also behind another claim", async (t) => {
    const log = newLog();
    const late = newLog(log.realmId);
    const append = late.append.bind(late);
    let attempts = 0;
    let other = 0;
    late.append = async (...message) => {
      const appended = await append(...message);
      if (++attempts > 1) return appended;
      other = (await claimRealm(log, { node: "b", storeVersion })).epoch;
      return { kind: "unknown", error: new Error("no acknowledgement in time") };
    };
    const { epoch } = await claimRealm(late, { node: "a", storeVersion });
    t.strictSame([epoch, other], [1, 2]);
  });

  t.test("[S3] cluster_claim_attempts_max: so often one claim is sent that nobody answers", async (t) => {
    const log = newLog();
    let attempts = 0;
    log.append = async () => {
      attempts++;
      return { kind: "unknown", error: new Error("no acknowledgement in time") };
    };
    t.equal(await claimBehind(log, { node: "a", storeVersion }, await headOf(log)), null);
    t.equal(attempts, limits.cluster_claim_attempts_max);
  });

  // Within a pair, between two of them, and behind them.
  for (const released of [500, 501, limits.cluster_release_points_max + 15]) {
    t.test(
      `[S3] cluster_release_points_max: of more messages than that, ${released} that were released go, and no others`,
      async (t) => {
        const log = newLog();
        const journal = await openJournal(t, log);
        const watch = new DurableWatch(journal);
        const expected: Recorded[] = [];
        for (let position = 1; position <= limits.cluster_release_points_max + 20; position++) {
          expected.push(...appendAll(journal, [position % 7], [log.realmId]));
          await watch.until(position);
        }
        journal.release(released);
        await journal.close();
        const found = await readAll(log);
        const first = found[0]?.position ?? 0;
        t.ok(first >= released && first <= released + 1, `the first one that stays is ${first}`);
        sameRecords(t, found, expected.slice(first - 1), "and all after it");
      },
    );
  }

  t.test("a node does not take over a realm that a newer program wrote", async (t) => {
    const log = newLog();
    await claimRealm(log, { node: "new", storeVersion: storeVersion + 1 });
    await t.rejects(claimRealm(log, { node: "old", storeVersion }), {
      name: "ClusterUnusable",
      message: /written by a newer program .* Upgrade this node/,
    });
  });
}

/** A journal that is expected to be lost. */
class LosableJournal {
  readonly journal: StreamJournal;
  readonly lost: Promise<JournalLost>;

  private constructor(journal: StreamJournal, lost: Promise<JournalLost>) {
    this.journal = journal;
    this.lost = lost;
  }

  static async open(log: RealmLog): Promise<LosableJournal> {
    let fatal: (error: JournalLost) => void = () => undefined;
    const lost = new Promise<JournalLost>((resolve) => {
      fatal = resolve;
    });
    const claim = await claimRealm(log, { node: "a", storeVersion });
    return new LosableJournal(new StreamJournal({ log, claim, fatal: (error) => fatal(error) }), lost);
  }
}
