/** Drafts in the tests that cover every area. */
import { command } from "../../actors/protocol/decision.ts";
import type { World } from "../sim/world.ts";
import { defineCases } from "./area.ts";
import { self } from "./draws.ts";
import { reduced } from "./lists.ts";
import { made, must } from "./make.ts";

function draft(world: World) {
  return {
    type: "channel" as const,
    to: [world.channel()],
    topic: world.topic(),
    content: world.name(),
    changedAt: null,
  };
}

/** As clients send it. */
const wireDraft = { type: "private", to: [], topic: "", content: "x", timestamp: 1_700_000_000 };

export const draftsCases = defineCases({
  audiences: {
    accounts: ["get-drafts", "create-drafts", "edit-draft", "delete-draft"],
  },
  fuzz: {
    things: ["draft"],
    meanings: {
      draft_id: "draft",
    },
    learned: {
      "create-drafts": ({ ids }) => [["draft", ids.at(-1)]],
    },
  },
  draws: {
    "drafts.add": (world) => {
      const id = world.user();
      return command(self(id), "drafts.add", { drafts: [draft(world)] }, id);
    },
    "drafts.update": (world) => {
      const { userId, id } = world.own("drafts");
      return command(self(userId), "drafts.update", { id, draft: draft(world) }, userId);
    },
    "drafts.remove": (world) => {
      const { userId, id } = world.own("drafts");
      return command(self(userId), "drafts.remove", { id }, userId);
    },
  },
  owned: {
    draft_id: (client) => made(client.post("/drafts", { drafts: [wireDraft] }), "ids", "0"),
  },
  forms: { "edit-draft": () => ({ draft: { ...wireDraft, content: "x2" } }) },
  lists: {
    appliers: { drafts: reduced },
    keys: { drafts: "any order" },
    play: async (owner, other) => {
      const draft = { type: "private", to: [other.userId], topic: "", content: "a", timestamp: 1_700_000_000 };
      const { ids } = await must(owner.post("/drafts", { drafts: [draft, { ...draft, content: "b" }, draft] }));
      await must(owner.patch(`/drafts/${ids[0]}`, { draft: { ...draft, content: "c" } }));
      await must(owner.delete(`/drafts/${ids[1]}`));
    },
  },
  state: { drafts: ["drafts"] },
});
