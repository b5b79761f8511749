/**
 * The organizations of a data folder, with what makes their turns durable, and what is delivered for them.
 *
 * The links in emails that switch such emails off (D258), and the secret that signs them.
 *
 * The journal that makes the turns of a server durable, and its archive.
 */

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { command } from "../../actors/protocol/decision.ts";
import { composeReply } from "../../domain/message-content.ts";
import { messageTerms, senderTerms, topicTerms } from "../../domain/search/terms.ts";
import { unsubscribeKindOf, unsubscribeLink } from "../../domain/unsubscribe-links.ts";
import type { MailRecord } from "../../schemas/mails.ts";
import { featureLevel, serverVersion } from "../../schemas/server.ts";
import { archivePorts } from "../durability/archive/open-archive.ts";
import type { ClusterDurability } from "../durability/cluster/cluster-durability.ts";
import type { Member } from "../durability/cluster/member.ts";
import type { Replication } from "../durability/cluster/replication.ts";
import type { Durability } from "../durability/journal/durability.ts";
import type { Journal } from "../durability/journal/journal.ts";
import { type OpenDurabilityOptions, openDurability } from "../durability/journal/open-durability.ts";
import type { Hub } from "../edge/realtime/hub.ts";
import type { OpenHubs } from "../edge/realtime/open-hubs.ts";
import type { Log } from "../log/log.ts";
import type { Meters } from "../metrics/meters.ts";
import { MailRelay } from "../outbound/mail/mail-relay.ts";
import { MailSender } from "../outbound/mail/mail-sender.ts";
import { outboxTransport } from "../outbound/mail/outbox.ts";
import { smtpTransport } from "../outbound/mail/smtp.ts";
import { WebhookDispatch } from "../outbound/webhooks/dispatch.ts";
import { WebhookRelay } from "../outbound/webhooks/webhook-relay.ts";
import { webhookRequest } from "../queries/webhooks.ts";
import { type Clock, guardedClock, systemClock } from "../runtime/clock.ts";
import type { Alarm } from "../runtime/dispatcher.ts";
import type { Realm } from "../runtime/realm.ts";
import { RealmHost } from "../runtime/realm-host.ts";
import { SearchIndexer, type SearchTerms } from "../runtime/search-indexer.ts";
import { TurnWatch } from "../runtime/turn.ts";
import type { DiskSpace } from "../store/disk-space.ts";
import type { PageChecks } from "../store/page-checks.ts";
import type { RealmEntry, RootStore } from "../store/root.ts";
import type { Config } from "./config.ts";
import { siteOf as siteOfEntry } from "./mail-config.ts";

interface DurabilityTools extends Pick<OpenDurabilityOptions, "fatal" | "reportBug" | "flushTimes"> {
  readonly dataDir: string;
  readonly root: RootStore;
  readonly clock: Clock;
  readonly space: DiskSpace;
  readonly pageChecks: PageChecks;
  readonly log: Log;
}

/** The journal is in files of this machine. */
function localDurability(
  config: Config,
  { root, space, pageChecks, log, ...tools }: DurabilityTools,
): Promise<Durability> {
  const { clock, hasSpace } = diskPorts(space, tools.clock, tools.reportBug);
  const archive = archivePorts(config, { dataDir: tools.dataDir, root, clock, hasSpace, log });
  const entries = new Map(root.realms().map((entry) => [entry.id, entry]));
  const checkStore = (id: number) => pageChecks.check(entries.get(id) ?? { id, dueHint: 0 }, false);
  const isErased = (id: number) => root.isErased(id);
  return openDurability({ ...tools, owner: root.token, archive, isErased, checkStore, clock, hasSpace });
}

/** The journals are in the streams of a cluster. */
function clusterDurability(member: Member, { root, space, ...tools }: DurabilityTools): Promise<ClusterDurability> {
  return member.openDurability({ ...tools, ...diskPorts(space, tools.clock, tools.reportBug), owner: root.token });
}

function diskPorts(space: DiskSpace, { now }: Clock, report: (error: unknown) => void) {
  // Disks work in real time, whatever clock the realms have.
  return { clock: guardedClock({ ...systemClock, now: () => now() }, report), hasSpace: () => space.acceptsWrites() };
}

function newLinkSecret(): string {
  return randomBytes(32).toString("base64url");
}

/**
 * The first email that needs a link makes the organization's secret.
 * @param site the organization's address, without a trailing slash
 * @returns null if the email has no such link: of its kind, or because the account has another address now
 * @throws Error if the secret cannot be stored now
 */
export async function unsubscribeUrl(
  realm: Realm,
  { template, to }: MailRecord,
  site: string,
  newSecret: () => string = newLinkSecret,
): Promise<string | null> {
  const kind = unsubscribeKindOf(template);
  if (kind === undefined) return null;
  if (secretOf(realm) === undefined) {
    const params = { secret: newSecret() };
    await realm.dispatcher.ask(command({ actor: "realm" }, "link-secret.set", params, null));
  }
  const secret = secretOf(realm);
  if (secret === undefined) throw new Error("the secret of links cannot be stored");
  const user = realm.view.users.byEmail(to);
  return user === undefined ? null : unsubscribeLink(secret, site, { kind, user });
}

function secretOf({ view }: Realm): string | undefined {
  return view.row("linkSecrets", "unsubscribe")?.secret;
}

const searchTerms: SearchTerms = { ofMessage: messageTerms, ofTopic: topicTerms, everyMessage: senderTerms };

export interface RealmsContext {
  readonly dataDir: string;
  readonly root: RootStore;
  readonly space: DiskSpace;
  readonly hubs: OpenHubs;
  readonly clock: Clock;
  readonly alarm: Alarm;
  readonly log: Log;
  readonly meters: Meters;
  readonly pageChecks: PageChecks;
  /** Null: the server is no node of a cluster. */
  readonly member: Member | null;
  readonly data: Replication | null;
  readonly startedAt: number;
  /** The server's own address, which is known once it listens. */
  readonly url: () => string;
  readonly onOpened: (realm: Realm) => void;
}

export interface OpenedRealms {
  readonly host: RealmHost;
  readonly durability: Durability;
  readonly hubOf: (realm: Realm) => Hub;
  /** The address of an organization, without a trailing slash. */
  readonly siteOf: (realm: Realm) => string;
  /** In a cluster: this node serves an organization from now on. */
  serve(id: number, journal: Journal): void;
  /** Another node serves it from now on. Resolves when it is closed. @param realm null if it is not open */
  release(realm: Realm | null, id: number): Promise<void>;
  /** Resolves when no email and no webhook is being sent. */
  endDeliveries(): Promise<void>;
  close(): Promise<void>;
}

/** Applies what the last process left in the journal, and opens the organizations that have work to do. */
export async function openRealms(config: Config, context: RealmsContext): Promise<OpenedRealms> {
  const { dataDir, root, space, hubs, clock, alarm, meters, pageChecks, url, data } = context;
  const { mailSender, webhooks } = createOutbound(config, context);
  const entries = new Map<Realm, RealmEntry>();
  const siteOf = (realm: Realm) => siteOfEntry(config.siteUrl ?? url(), entries.get(realm) as RealmEntry);
  const reportBug = (error: unknown) => alarm.bug(error, null);
  const tools = { ...context, fatal: alarm.fatal, reportBug, flushTimes: meters.flushes };
  const { member } = context;
  const clustered = member === null ? null : await clusterDurability(member, tools);
  const durability = clustered ?? (await localDurability(config, tools));
  const host = new RealmHost({
    dataDir,
    root,
    owner: root.token,
    durability,
    pageChecks,
    clock,
    alarm,
    acceptsWrites: () => space.acceptsWrites(),
    idleMs: config.realmIdleMs,
    isServed: (id) => member === null || member.owns(id),
    turnWatch: new TurnWatch(meters.turns, config.slowTurnMs),
    ...(data === null ? {} : { sharedFilesOf: (id) => data.filesOf(id) }),
    onOpen(realm, entry) {
      const { hub, isFirst } = hubs.open(realm, entry.id, {
        limitsPresence: config.presenceLimitedToAccessible,
        reportBug,
        delivered: meters.events,
      });
      entries.set(realm, entry);
      if (isFirst) hub.announceRestart(restartBody(context.startedAt));
      if (isFirst) for (const line of realm.lmdb.unreadableRows) alarm.warn(`organization ${entry.id}: ${line}`);
      new WebhookRelay(realm, entry.id, webhooks);
      new MailRelay(realm, entry.id, mailSender, {
        site: () => siteOf(realm),
        unsubscribeUrl: (mail) => unsubscribeUrl(realm, mail, siteOf(realm)),
      });
      new SearchIndexer(realm, { clock, alarm, terms: searchTerms });
      context.onOpened(realm);
    },
    onClose(realm, { id }) {
      hubs.park(realm, id);
      entries.delete(realm);
    },
  });
  host.openDue();
  return {
    host,
    durability,
    hubOf: (realm) => hubs.get(realm),
    siteOf,
    serve(id, journal) {
      clustered?.add(id, journal);
      host.serve(id);
    },
    async release(realm, id) {
      await host.release(id);
      if (realm !== null) hubs.leave(realm);
      if (realm !== null) entries.delete(realm);
      await clustered?.remove(id);
    },
    async endDeliveries() {
      await Promise.all([mailSender.close(), webhooks.close()]);
    },
    async close() {
      await host.close();
      await durability.close();
    },
  };
}

/** Emails and webhooks, shared by all organizations. */
function createOutbound(config: Config, { clock, dataDir, log, meters }: RealmsContext) {
  const { smtpServer, mailSender: sender } = config;
  const transport = smtpServer === null ? outboxTransport(join(dataDir, "outbox")) : smtpTransport(smtpServer);
  const webhooks = new WebhookDispatch({
    clock,
    log,
    mayBePrivate: config.webhooksMayBePrivate,
    requestOf: webhookRequest,
    compose: composeReply,
    outcomes: meters.webhooks,
  });
  return { mailSender: new MailSender({ transport, sender, clock, log, outcomes: meters.mails }), webhooks };
}

/** The body of the `restart` event for clients whose queue survived a restart. */
function restartBody(startedAt: number) {
  return {
    zulip_version: serverVersion,
    zulip_merge_base: serverVersion,
    zulip_feature_level: featureLevel,
    server_generation: Math.floor(startedAt / 1000),
  };
}
