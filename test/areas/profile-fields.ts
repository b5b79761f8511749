/** Profile fields in the tests that cover every area. */
import { command } from "../../actors/protocol/decision.ts";
import { commands } from "../support/runtime.ts";
import { defineCases } from "./area.ts";
import { order, realm } from "./draws.ts";
import { freshName, made } from "./make.ts";

export const profileFieldsCases = defineCases({
  audiences: {
    humans: ["update-own-profile-data", "remove-own-profile-data"],
    administrators: [
      "create-custom-profile-field",
      "reorder-custom-profile-fields",
      "update-custom-profile-field",
      "delete-custom-profile-field",
    ],
    accounts: ["get-custom-profile-fields"],
  },
  fuzz: {
    things: ["profile field"],
    meanings: {
      field_id: "profile field",
    },
    learned: {
      "create-custom-profile-field": ({ id }) => [["profile field", id]],
    },
  },
  draws: {
    "profile-field.create": (world) => commands.createField(world.name(), world.random.pick([1, 3])),
    "profile-field.update": (world) => {
      const kept = { hint: null, fieldData: null, displayInSummary: null, isRequired: null, isEditableByUser: null };
      const params = { ...kept, fieldId: world.id("profileFields"), name: world.name() };
      return command(realm, "profile-field.update", params, world.administrator());
    },
    "profile-field.reorder": (world) =>
      command(realm, "profile-field.reorder", { order: order(world, "profileFields") }, world.administrator()),
    "profile-field.delete": (world) =>
      command(realm, "profile-field.delete", { fieldId: world.id("profileFields") }, world.administrator()),
    "profile-values.sweep": null,
    "profile-data.set": (world) => commands.enter(world.id("profileFields"), world.user()),
  },
  shared: {
    field_id: (client) => made(client.post("/realm/profile_fields", { name: freshName(), field_type: 1 }), "id"),
  },
  forms: { "update-custom-profile-field": () => ({ name: freshName() }) },
  state: { custom_profile_fields: ["custom_profile_field_types", "custom_profile_fields"] },
});
