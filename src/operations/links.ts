/** Links in emails and invitations: their pages are in edge/http. */

export const joinPrefix = "/join/";
export const emailChangePrefix = "/accounts/confirm_new_email/";

export function joinLink(site: string, key: string): string {
  return `${site}${joinPrefix}${key}/`;
}

export function emailChangeLink(site: string, key: string): string {
  return `${site}${emailChangePrefix}${key}`;
}

export const setupPrefix = "/setup/";

export function setupLink(site: string, secret: string): string {
  return `${site}${setupPrefix}${secret}`;
}
