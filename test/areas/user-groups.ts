/** User groups in the tests that cover every area. */
import { command } from "../../actors/protocol/decision.ts";
import { defineCases } from "./area.ts";
import { realm } from "./draws.ts";
import { freshName, made } from "./make.ts";

export const userGroupsCases = defineCases({
  audiences: {
    members: [
      "create-user-group",
      "get-user-groups",
      "update-user-group",
      "deactivate-user-group",
      "get-user-group-members",
      "get-is-user-group-member",
      "update-user-group-members",
      "get-user-group-subgroups",
      "update-user-group-subgroups",
    ],
  },
  fuzz: {
    things: ["group"],
    makes: {
      group: (client) => {
        const group = { name: freshName(), description: "", members: [client.userId] };
        return made(client.post("/user_groups/create", group), "group_id");
      },
    },
    meanings: {
      "deactivate-user-group user_group_id": "group",
      "update-user-group user_group_id": "group",
      "update-user-group-members user_group_id": "group",
      "update-user-group-subgroups user_group_id": "group",
    },
    learned: {
      "create-user-group": ({ group_id }) => [["group", group_id]],
    },
  },
  draws: {
    "group.create": (world) => {
      const group = { name: world.name(), description: "", memberIds: world.activeUsers(3), subgroupIds: [] };
      return command(realm, "group.create", { ...group, settings: {} }, world.administrator());
    },
    "group.update": (world) => {
      const change = { name: world.random.chance(0.3) ? world.name() : null, description: world.maybe(world.name()) };
      const isDeactivated = world.random.chance(0.3) ? world.flip() : null;
      const params = { groupId: world.ownGroup(), ...change, isDeactivated, settings: {} };
      return command(realm, "group.update", params, world.administrator());
    },
    "group.deactivate": (world) =>
      command(realm, "group.deactivate", { groupId: world.ownGroup() }, world.administrator()),
    "group.change-members": (world) => {
      const [groupId, subgroupId] = [world.ownGroup(), world.ownGroup()];
      const isNesting = world.random.chance(0.2) && groupId !== subgroupId;
      const members = { addIds: isNesting ? [] : world.activeUsers(3), removeIds: [] };
      const subgroups = { addSubgroupIds: isNesting ? [subgroupId] : [], removeSubgroupIds: [] };
      return command(realm, "group.change-members", { groupId, ...members, ...subgroups }, world.administrator());
    },
    "group-members.continue": (world) => {
      const steps = [{ op: "add" as const, userIds: world.activeUsers(3) }];
      const params = { groupId: world.ownGroup(), steps, waiting: null };
      return command(realm, "group-members.continue", params, null);
    },
  },
  shared: {
    user_group_id: (client) =>
      made(client.post("/user_groups/create", { name: freshName(), description: "", members: [] }), "group_id"),
  },
  forms: {
    "update-user-group": () => ({ description: "changed" }),
    "update-user-group-members": () => ({ add: [2] }),
    "update-user-group-subgroups": () => ({ delete: [] }),
  },
  state: { realm_user_groups: ["realm_user_groups"] },
});
