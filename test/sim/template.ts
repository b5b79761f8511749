/** An initialized realm with a few users, created once per process; every run starts with a copy of it. */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Command, command } from "../../actors/protocol/decision.ts";
import { limits } from "../../schemas/limits.ts";
import { commands, createUsers, generalId, openNewRealm, ownerId } from "../support/runtime.ts";
import { memoryFolder, type Teardown } from "../support/server.ts";

/** The third channel of this organization. */
const archiveId = 3;

/** The fourth one: the channel for reported messages. */
const moderationId = 4;

function moderation(): Command {
  const request = commands.createChannel("Moderation", [ownerId]);
  return { ...request, params: { ...request.params, isPrivate: true, isHistoryPublic: false } };
}

function reportsGoTo(channelId: number): Command {
  const change = { settings: { moderation_request_channel_id: channelId }, groups: {}, isWebPublicAllowed: false };
  return command({ actor: "realm" }, "realm.change-settings", change, ownerId);
}

/**
 * More messages than one turn marks as read or unsubscribes. The others follow in slices, between which anything may
 * happen.
 */
const unreadMany = limits.read_rows_inline_max + 20;

export class Template {
  readonly #folder: string;
  readonly #runs: string;
  #count = 0;

  private constructor(folder: string, runs: string) {
    this.#folder = folder;
    this.#runs = runs;
  }

  static async make(t: Teardown): Promise<Template> {
    // Faults are simulated, so a file system in memory is enough, and faster.
    const runs = mkdtempSync(join(memoryFolder(), "colloquy-sim-"));
    t.teardown(() => rmSync(runs, { recursive: true, force: true }));
    const founded = await openNewRealm(t);
    const people = await createUsers(founded, 4);
    await founded.ask(commands.createChannel("Sales", [ownerId, ...people]));
    await founded.ask(commands.createChannel("Archive", [ownerId, ...people]));
    await founded.ask(moderation());
    await founded.ask(reportsGoTo(moderationId));
    await founded.ask(commands.post("lunch", "welcome", ownerId, generalId));
    for (let post = 0; post < unreadMany; post++) {
      await founded.ask(commands.post("minutes", `minute ${post}`, ownerId, archiveId));
    }
    await founded.idle();
    founded.checkpoint();
    return new Template(founded.folder, runs);
  }

  copy(): string {
    this.#count++;
    const folder = join(this.#runs, String(this.#count));
    mkdirSync(folder);
    copyFileSync(join(this.#folder, "data.mdb"), join(folder, "data.mdb"));
    return folder;
  }

  drop(folder: string): void {
    rmSync(folder, { recursive: true, force: true });
  }
}
