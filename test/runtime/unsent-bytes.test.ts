/** How many bytes clients may leave unread, exactly at the bounds (S3, E3), in bytes and in milliseconds. */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { ByteBudget } from "../../src/runtime/byte-budget.ts";
import type { UnsentBytes } from "../../src/runtime/unsent-bytes.ts";
import { wireMemory } from "../support/wire-memory.ts";

const max = limits.unsent_bytes_max;
const share = limits.unsent_bytes_per_user_max;

function opened(): {
  unsent: UnsentBytes;
  evicted: string[];
  wait: (ms: number) => void;
  evict: (who: string) => () => void;
} {
  let now = 0;
  const evicted: string[] = [];
  return {
    unsent: wireMemory(() => now).unsent,
    evicted,
    wait: (ms) => {
      now += ms;
    },
    evict: (who) => () => void evicted.push(who),
  };
}

t.test(
  "[S3] unsent_bytes_per_user_max: two responses up to the user's share pass, a byte more is rejected, other users are unaffected",
  async (t) => {
    const { unsent, evict } = opened();
    t.ok(unsent.reserve("ann", share / 2, evict("ann")));
    t.equal(unsent.reserve("ann", share / 2 + 1, evict("ann")), null);
    t.ok(unsent.reserve("ann", share / 2, evict("ann")));
    t.ok(unsent.reserve("bob", share / 2 + 1, evict("bob")));
    t.equal(unsent.sum, share + share / 2 + 1);
  },
);

t.test("[S3] unsent_bytes_per_user_max: with half of the share unread no large response is built", async (t) => {
  const { unsent, evict } = opened();
  const held = unsent.reserve("ann", share / 2, evict("ann"));
  t.ok(unsent.hasRoomFor("ann"));
  held?.resize(share / 2 + 1);
  t.notOk(unsent.hasRoomFor("ann"));
  t.ok(unsent.hasRoomFor("bob"));
  held?.release();
  held?.release();
  t.ok(unsent.hasRoomFor("ann"));
  t.equal(unsent.sum, 0);
});

t.test("[S3] a first response may exceed the user's share, but not the total", async (t) => {
  const { unsent, evict } = opened();
  t.equal(unsent.reserve("ann", max + 1, evict("ann")), null);
  t.ok(unsent.reserve("ann", max, evict("ann")));
  t.notOk(unsent.hasRoomFor("bob"), "none has had its minimum time yet");
});

t.test(
  "[S3, E3] unsent_bytes_max, unsent_kept_ms_min: connections past their minimum time are closed to make room, oldest first",
  async (t) => {
    const { unsent, evicted, wait, evict } = opened();
    const names = ["a", "b", "c", "d"];
    for (const name of names) {
      t.ok(unsent.reserve(name, max / names.length, evict(name)));
      wait(1);
    }
    wait(limits.unsent_kept_ms_min - names.length - 1);
    t.equal(unsent.reserve("new", 1, evict("new")), null, "a millisecond too early");
    wait(1);
    t.ok(unsent.reserve("new", 1, evict("new")));
    t.strictSame(evicted, ["a"]);
    t.equal(unsent.sum, max - max / names.length + 1);
  },
);

t.test("[S3] a user who needs more room does not get it by closing their own connections", async (t) => {
  const { unsent, evicted, wait, evict } = opened();
  const held = unsent.reserve("a", max / 2, evict("a"));
  const other = unsent.reserve("b", max / 2, evict("b"));
  t.equal(held?.resize(max / 2 + 1), false);
  wait(limits.unsent_kept_ms_min);
  t.equal(held?.resize(max / 2 + 1), true);
  t.strictSame(evicted, ["b"]);
  t.equal(other?.resize(1), false, "a closed connection holds nothing");
  t.equal(unsent.sum, max / 2 + 1);
});

t.test("[S3] a small response is always sent", async (t) => {
  const { unsent, evict } = opened();
  unsent.reserve("a", max, evict("a"));
  const small = unsent.reserveSmall("b", limits.answer_small_bytes_max, evict("b"));
  t.equal(unsent.sum, max + limits.answer_small_bytes_max);
  small.release();
  t.equal(unsent.sum, max);
});

t.test(
  "[S3] requests_in_flight_bytes_max, requests_in_flight_bytes_per_sender_max: accepted at the bound, rejected above it",
  async (t) => {
    const { inFlight } = wireMemory(() => 0);
    const each = limits.requests_in_flight_bytes_per_sender_max;
    const one = inFlight.open("one");
    t.ok(one.add(each));
    t.notOk(one.add(1), "of one sender");
    t.notOk(inFlight.open("one").add(1));
    const senders = limits.requests_in_flight_bytes_max / each;
    for (let index = 1; index < senders; index++) t.ok(inFlight.open(`sender ${index}`).add(each));
    t.equal(inFlight.sum, limits.requests_in_flight_bytes_max);
    t.notOk(inFlight.open("another").add(1), "of all");
    one.release();
    one.release();
    t.ok(inFlight.open("another").add(each));
  },
);

t.test("[S3, D28] an IPv6 network has one share of unsent bytes and of bytes in flight", async (t) => {
  const { unsent, evict } = opened();
  t.ok(unsent.reserve("2001:db8::1", share, evict("one")));
  t.equal(unsent.hasRoomFor("2001:db8::2"), false);
  t.equal(unsent.reserve("2001:db8::2", 1, evict("two")), null);
  t.ok(unsent.reserve("2001:db8:0:1::2", 1, evict("next")));
  const budget = new ByteBudget(100, 10);
  const first = budget.open("2001:db8::1");
  t.ok(first.add(10));
  t.equal(budget.open("2001:db8::2").add(1), false);
  t.ok(budget.open("2001:db8:0:1::2").add(1));
  first.release();
  t.ok(budget.open("2001:db8::2").add(10));
});
