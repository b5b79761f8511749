/** All projections of one realm: rebuilt from rows when it opens, then updated by deltas (M9). */
import type { TableName } from "../../../schemas/records.ts";
import type { Lmdb } from "../lmdb.ts";
import { AlertWordsProjection } from "./alert-words.ts";
import { BotsProjection } from "./bots.ts";
import { ChannelsProjection, SubscriptionsProjection } from "./channels.ts";
import { EmailSubscriptionsProjection } from "./email-subscriptions.ts";
import { RealmEmojiProjection } from "./emoji.ts";
import { GroupsProjection } from "./groups.ts";
import { InvitationsProjection } from "./invitations.ts";
import { LinkifiersProjection } from "./linkifiers.ts";
import { PeopleVersions } from "./people-versions.ts";
import { PresenceProjection } from "./presence.ts";
import { ProfilesProjection } from "./profiles.ts";
import { type Delta, deltaOf, type Projection } from "./projection.ts";
import { QueuesProjection, RealmProjection } from "./queues.ts";
import { apiKeysProjection, sessionsProjection, UsersProjection } from "./users.ts";

export class RealmProjections {
  readonly realm = new RealmProjection();
  readonly users = new UsersProjection();
  readonly bots = new BotsProjection();
  readonly apiKeys = apiKeysProjection();
  readonly sessions = sessionsProjection();
  readonly channels = new ChannelsProjection();
  readonly subscriptions = new SubscriptionsProjection();
  readonly groups = new GroupsProjection();
  readonly queues = new QueuesProjection();
  readonly presence = new PresenceProjection();
  readonly realmEmoji = new RealmEmojiProjection();
  readonly alertWords = new AlertWordsProjection();
  readonly profiles = new ProfilesProjection();
  readonly linkifiers = new LinkifiersProjection();
  readonly emailSubscriptions = new EmailSubscriptionsProjection();
  readonly invitations = new InvitationsProjection();
  readonly peopleVersions = new PeopleVersions();
  readonly #byTable = new Map<TableName, Projection[]>();
  readonly #counted = new Set<TableName>(this.peopleVersions.tables);

  constructor() {
    for (const projection of this.#all()) {
      for (const table of projection.tables) {
        const readers = this.#byTable.get(table);
        if (readers === undefined) this.#byTable.set(table, [projection]);
        else readers.push(projection);
      }
    }
  }

  #all(): Projection[] {
    return [
      this.realm,
      this.users,
      this.bots,
      this.apiKeys,
      this.sessions,
      this.channels,
      this.subscriptions,
      this.groups,
      this.queues,
      this.presence,
      this.realmEmoji,
      this.alertWords,
      this.profiles,
      this.linkifiers,
      this.emailSubscriptions,
      this.invitations,
    ];
  }

  /** Reads every projected table of the environment. */
  static rebuild(environment: Lmdb): RealmProjections {
    const projections = new RealmProjections();
    for (const table of projections.#byTable.keys()) {
      const deltas: Delta[] = [];
      environment.each(table, (row, key) => deltas.push(deltaOf(table, key, row)));
      // In order of update ids, see PresenceProjection.
      if (table === "presence") deltas.sort((a, b) => updateIdOf(a) - updateIdOf(b));
      for (const delta of deltas) projections.apply(delta);
    }
    return projections;
  }

  /** @throws Error when a projection could not read the row back */
  check(delta: Delta): void {
    for (const reader of this.#byTable.get(delta.table) ?? []) reader.check?.(delta);
  }

  apply(delta: Delta): void {
    if (this.#counted.has(delta.table)) this.peopleVersions.apply(delta);
    const readers = this.#byTable.get(delta.table);
    if (readers === undefined) return;
    for (const reader of readers) reader.apply(delta);
  }

  snapshot(): unknown {
    return this.#all().map((projection) => [projection.tables, projection.snapshot()]);
  }
}

function updateIdOf(delta: Delta): number {
  return (delta.row as { updateId: number }).updateId;
}
