// Permission checks in memory: projections contain users and groups as loaded from disk, and one question is asked
// repeatedly: may this user post in this channel, if the permitted group is the top of a chain of nested groups? The
// baseline looks up the members of each top group in a Map of Sets.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { hasChannelPermission } from "../../domain/permissions.ts";
import type { View } from "../../domain/view.ts";
import type { ChannelRecord } from "../../schemas/channels.ts";
import type { RowOf, TableName } from "../../schemas/records.ts";
import { roles } from "../../schemas/types.ts";
import type { GroupRecord } from "../../schemas/user-groups.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { decodeRow, encodeRow } from "../../src/store/codec.ts";
import { GroupsProjection } from "../../src/store/projections/groups.ts";
import { UsersProjection } from "../../src/store/projections/users.ts";
import type { PermissionsJob, PermissionsResult } from "../lib/job.ts";
import type { Point } from "../lib/recorder.ts";
import { seededRandom } from "../lib/statistics.ts";

/** Questions are drawn in advance, so that drawing them costs nothing during the measurement. */
const QUESTIONS = 1 << 16;
const SLICES = 20;
/** Number of groups of which each user is a direct member. */
const GROUPS_PER_PERSON = 2;
const FIRST_GROUP = 9;

export function runPermissions(job: PermissionsJob): PermissionsResult {
  const fixture = createFixture(job);
  const ask = job.side === "ours" ? askView(fixture) : askMap(fixture);
  const { people, channels } = questions(job, fixture);
  let yes = 0;
  /** Asks for `forMs`. Measures CPU time, because other programs may be running. @returns questions per millisecond */
  const pace = (forMs: number): number => {
    const startedAt = performance.now();
    const before = process.cpuUsage();
    for (let questions = QUESTIONS; ; questions += QUESTIONS) {
      yes = 0;
      for (let index = 0; index < QUESTIONS; index++) {
        if (ask(people[index] as number, channels[index] as number)) yes++;
      }
      if (performance.now() - startedAt < forMs) continue;
      const { user, system } = process.cpuUsage(before);
      return questions / ((user + system) / 1000);
    }
  };
  pace(job.warmupMs);
  const sliceMs = job.durationMs / SLICES;
  const throughput: Point[] = [];
  for (let slice = 1; slice <= SLICES; slice++) throughput.push([(slice * sliceMs) / 1000, pace(sliceMs) * 1000]);
  const perSecond = throughput.reduce((sum, [, rate]) => sum + rate, 0) / SLICES;
  return {
    perSecond,
    throughput,
    allowedOfRound: yes,
    usersBytes: fixture.usersBytes / job.people,
    membersBytes: fixture.membersBytes / job.people,
    changeMicroseconds: job.side === "ours" ? measureChange(fixture) : null,
  };
}

interface Fixture {
  readonly users: UsersProjection;
  readonly groups: GroupsProjection;
  /** For the baseline: only rows, by id. */
  readonly rows: Map<number, UserRecord>;
  /** For the baseline: all members of each top group. */
  readonly closure: Map<number, Set<number>>;
  readonly channels: readonly ChannelRecord[];
  readonly tops: readonly number[];
  readonly depth: number;
  readonly personIds: readonly number[];
  readonly memberships: readonly (readonly [groupId: number, userId: number])[];
  readonly usersBytes: number;
  readonly membersBytes: number;
}

/** Chains of `depth` groups, each within the previous one; users are spread over all groups. */
function createFixture(job: PermissionsJob): Fixture {
  const random = seededRandom(job.seed);
  const users = new UsersProjection();
  const groups = new GroupsProjection();
  const rows = new Map<number, UserRecord>();
  const closure = new Map<number, Set<number>>();
  const isOurs = job.side === "ours";
  const personIds = Array.from({ length: job.people }, (_, index) => 10 + index);
  const memberships = personIds.flatMap((id) =>
    Array.from({ length: GROUPS_PER_PERSON }, () => [FIRST_GROUP + Math.floor(random() * job.groups), id] as const),
  );
  const topOf = (groupId: number) => groupId - ((groupId - FIRST_GROUP) % job.depth);

  const before = usedHeap();
  for (const id of personIds) {
    const row = fromDisk("users", personRow(id));
    if (isOurs) users.apply({ table: "users", key: id, row });
    else rows.set(id, row);
  }
  const afterUsers = usedHeap();
  for (let id = FIRST_GROUP; id < FIRST_GROUP + job.groups; id++) {
    const isLast = (id - FIRST_GROUP) % job.depth === job.depth - 1 || id === FIRST_GROUP + job.groups - 1;
    const row = fromDisk("groups", groupRow(id, isLast ? [] : [id + 1]));
    if (isOurs) groups.apply({ table: "groups", key: id, row });
  }
  for (const [groupId, userId] of memberships) {
    if (isOurs) groups.apply({ table: "groupMembers", key: [groupId, userId], row: {} });
    else setOf(closure, topOf(groupId)).add(userId);
  }
  const afterMembers = usedHeap();
  const tops = personIds.length === 0 ? [] : [...new Set(memberships.map(([groupId]) => topOf(groupId)))];
  return {
    users,
    groups,
    rows,
    closure,
    channels: tops.map((groupId, index) => channelRow(index, groupId)),
    tops,
    depth: job.depth,
    personIds,
    memberships,
    usersBytes: afterUsers - before,
    membersBytes: afterMembers - afterUsers,
  };
}

function setOf(sets: Map<number, Set<number>>, key: number): Set<number> {
  const known = sets.get(key);
  if (known !== undefined) return known;
  const made = new Set<number>();
  sets.set(key, made);
  return made;
}

/** Half of the questions have the answer yes: the user is somewhere in the chain. */
function questions(job: PermissionsJob, fixture: Fixture) {
  const random = seededRandom(job.seed + 1);
  const people = new Uint32Array(QUESTIONS);
  const channels = new Uint32Array(QUESTIONS);
  const channelOf = new Map(fixture.tops.map((groupId, index) => [groupId, index]));
  for (let index = 0; index < QUESTIONS; index++) {
    const [groupId, userId] = fixture.memberships[Math.floor(random() * fixture.memberships.length)] ?? [0, 0];
    const top = groupId - ((groupId - FIRST_GROUP) % job.depth);
    people[index] = userId;
    channels[index] = index % 2 === 0 ? (channelOf.get(top) ?? 0) : Math.floor(random() * fixture.channels.length);
  }
  return { people, channels };
}

/** Asks the question in the way that the server's own code does. */
function askView({ users, groups, channels }: Fixture) {
  // The parts of a view that permission checks read.
  const view = { now: 0, realm: { settings: {} }, users, groups } as unknown as View;
  return (userId: number, channelIndex: number): boolean => {
    const user = users.get(userId);
    const channel = channels[channelIndex];
    return (
      user !== undefined && channel !== undefined && hasChannelPermission(view, user, channel, "can_send_message_group")
    );
  };
}

function askMap({ rows, closure, tops }: Fixture) {
  return (userId: number, channelIndex: number): boolean =>
    rows.has(userId) && closure.get(tops[channelIndex] ?? 0)?.has(userId) === true;
}

/**
 * Removes the subgroup of a group in the middle of a chain and adds it again; then every top group is asked about once
 * more.
 */
function measureChange({ groups, tops, depth }: Fixture): number {
  const rounds = 200;
  const [top = 0] = tops;
  const middle = groups.get(top + Math.floor(depth / 2));
  if (middle === undefined) return 0;
  const startedAt = performance.now();
  for (let round = 0; round < rounds; round++) {
    const row = round % 2 === 0 ? { ...middle, subgroupIds: [] } : middle;
    groups.apply({ table: "groups", key: middle.id, row });
    for (const id of tops) groups.scope(id);
  }
  return ((performance.now() - startedAt) * 1000) / rounds;
}

/** The row as the store would return it, with strings and objects as decoding creates them. */
function fromDisk<T extends TableName>(table: T, row: RowOf<T>): RowOf<T> {
  return decodeRow(table, 1, encodeRow(table, 1, row));
}

function personRow(id: number): UserRecord {
  return {
    id,
    email: `person-${id}@bench.example.com`,
    fullName: `Person Number ${id}`,
    role: roles.member,
    isActive: true,
    joinedAt: 1_780_000_000_000 + id,
    timezone: "",
    botType: null,
    botOwnerId: null,
    avatarVersion: 1,
    settings: {},
    avatarFile: null,
    canChangeUserEmails: false,
  };
}

function groupRow(id: number, subgroupIds: readonly number[]): GroupRecord {
  return {
    id,
    name: `group ${id}`,
    description: "",
    isSystem: false,
    isActive: true,
    creatorId: null,
    createdAt: 1_780_000_000_000,
    memberIds: [],
    subgroupIds,
    settings: {},
  };
}

/** Only the fields that the question reads. */
function channelRow(id: number, groupId: number): ChannelRecord {
  return { id, groups: { can_send_message_group: groupId } } as unknown as ChannelRecord;
}

function usedHeap(): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}
