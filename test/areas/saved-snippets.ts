/** Saved snippets in the tests that cover every area. */
import { command } from "../../actors/protocol/commands.ts";
import { limits } from "../../schemas/limits.ts";
import { type Consequence, defineCases, nothing } from "./area.ts";
import { self } from "./draws.ts";
import { reduced } from "./lists.ts";
import { made, must } from "./make.ts";

function content(userId: number | null, id: number, value: string | undefined): Consequence {
  return { claims: [{ key: ["snippet", userId ?? 0, id], value }] };
}

export const savedSnippetsCases = defineCases({
  examples: async (call) => {
    const { saved_snippet_id } = await call("create-saved-snippet", {
      title: "Thanks",
      content: "Thank you, **all**!",
    });
    await call("get-saved-snippets");
    await call("edit-saved-snippet", { saved_snippet_id, title: "Thank you" });
    await call("delete-saved-snippet", { saved_snippet_id });
  },
  audiences: {
    accounts: ["get-saved-snippets", "create-saved-snippet", "edit-saved-snippet", "delete-saved-snippet"],
  },
  fuzz: {
    things: ["snippet"],
    meanings: {
      saved_snippet_id: "snippet",
    },
    learned: {
      "create-saved-snippet": ({ saved_snippet_id }) => [["snippet", saved_snippet_id]],
    },
  },
  draws: {
    "saved-snippets.add": (world) => {
      const id = world.user();
      return command(self(id), "saved-snippets.add", { title: "s", content: world.name() }, id);
    },
    "saved-snippets.update": (world) => {
      const { userId, id } = world.own("savedSnippets");
      const params = { id, title: world.maybe("t"), content: world.maybe(world.name()) };
      return command(self(userId), "saved-snippets.update", params, userId);
    },
    "saved-snippets.remove": (world) => {
      const { userId, id } = world.own("savedSnippets");
      return command(self(userId), "saved-snippets.remove", { id }, userId);
    },
  },
  owned: {
    saved_snippet_id: (client) =>
      made(client.post("/saved_snippets", { title: "t", content: "x" }), "saved_snippet_id"),
  },
  forms: { "edit-saved-snippet": () => ({ title: "t2", content: "x2" }) },
  facts: {
    readers: {
      "saved-snippets.add": ({ params, callerId }, answer) => {
        const id = answer?.["saved_snippet_id"];
        return typeof id === "number" ? content(callerId, id, params.content) : nothing;
      },
      "saved-snippets.update": ({ params, callerId }) =>
        params.content === null ? nothing : content(callerId, params.id, params.content),
      "saved-snippets.remove": ({ params, callerId }) => content(callerId, params.id, undefined),
    },
    actual: { snippet: (replica, userId, id) => replica.get("savedSnippets", [userId, id])?.content },
    tables: ["savedSnippets"],
  },
  lists: {
    appliers: { saved_snippets: reduced },
    keys: { saved_snippets: "any order" },
    play: async (owner) => {
      for (const [title, content] of Object.entries({ one: "1", two: "2" })) {
        const { saved_snippet_id: id } = await must(owner.post("/saved_snippets", { title, content }));
        await must(owner.patch(`/saved_snippets/${id}`, { content: "changed" }));
        if (title === "two") await must(owner.delete(`/saved_snippets/${id}`));
      }
    },
  },
  account: {
    bound: {
      what: "saved snippets",
      limits: ["saved_snippets_per_user_max", "message_code_points_max"],
      rows: limits.saved_snippets_per_user_max,
      tables: ["savedSnippets"],
      test: ["test/api/saved-snippets.test.ts", "[S3] saved_snippets_per_user_max"],
    },
    longest: {
      savedSnippets: (index, { userId, now, wide, message }) => [
        [userId, index],
        {
          ...{ id: index, userId, title: wide(limits.saved_snippet_title_code_points_max) },
          ...{ content: message, createdAt: now },
        },
      ],
    },
  },
  state: { saved_snippets: ["saved_snippets"] },
});
