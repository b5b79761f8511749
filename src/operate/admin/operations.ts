/** Every administrative operation, in one table. The admin listener and the command line read it from here. */
import {
  dropDeadLettersOperation,
  listDeadLettersOperation,
  retryDeadLettersOperation,
  showDeadLetterOperation,
} from "./dead-letter-operations.ts";
import type { AdminOperation } from "./operation.ts";
import {
  confirmRetentionOperation,
  createRealmsOperation,
  deactivateRealmOperation,
  eraseRealmOperation,
  reactivateRealmOperation,
  rebuildSearchOperation,
} from "./realm-operations.ts";
import { listRealmsOperation, sendTestMailOperation, statusOperation } from "./server-operations.ts";
import { timeOperation } from "./time-operations.ts";
import {
  createUserOperation,
  deactivateUserOperation,
  grantEmailChangesOperation,
  listUsersOperation,
  newKeyOperation,
  reactivateUserOperation,
  resetLinkOperation,
  setPasswordOperation,
  setRoleOperation,
} from "./user-operations.ts";

export const adminOperations: readonly AdminOperation[] = [
  statusOperation,
  sendTestMailOperation,
  listRealmsOperation,
  createRealmsOperation,
  deactivateRealmOperation,
  reactivateRealmOperation,
  eraseRealmOperation,
  listUsersOperation,
  createUserOperation,
  deactivateUserOperation,
  reactivateUserOperation,
  setRoleOperation,
  setPasswordOperation,
  resetLinkOperation,
  newKeyOperation,
  grantEmailChangesOperation,
  listDeadLettersOperation,
  showDeadLetterOperation,
  retryDeadLettersOperation,
  dropDeadLettersOperation,
  rebuildSearchOperation,
  timeOperation,
  confirmRetentionOperation,
];
