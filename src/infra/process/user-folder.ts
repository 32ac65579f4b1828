/**
 * The folder of this user for agents with a simulated VPP, one folder in it for each node. Agent and netctl
 * find each other by it.
 */
import { lstatSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineError, errorText } from '../errors/errors.ts';
import { createFolder } from '../files/folder.ts';
import { isAnswered } from './socket.ts';

/** The folder of this user in the folder for temporary files belongs to another user, is no folder, or cannot be created. */
export const UserFolderError = defineError({
  name: 'UserFolderError',
  code: 'CV_USER_FOLDER',
  rejects: 'configuration',
  remedy: 'Set TMPDIR to a folder that belongs to you, for netctl, too.',
});

const OWNER_ONLY = 0o700;

/** A name of its own for each user: all users of a machine share the folder for temporary files. */
function userFolder(): string {
  return join(tmpdir(), `contiv-vswitch-${process.getuid!()}`);
}

export function userNodeFolder(node: string): string {
  return join(userFolder(), node);
}

/** Unix socket of the REST server of the agent with this folder. */
export function userAgentSocket(nodeFolder: string): string {
  return join(nodeFolder, 'agent.sock');
}

/** @throws UserFolderError */
export function createUserNodeFolder(node: string): void {
  const folder = userFolder();
  createOwn(folder);
  // Its owner could replace the sockets.
  if (!isOwn(folder)) throw new UserFolderError('is not a folder of this user', { where: folder });
  createOwn(userNodeFolder(node));
}

function createOwn(folder: string): void {
  try {
    createFolder(folder, OWNER_ONLY);
  } catch (thrown) {
    const text = `cannot be created: ${errorText(thrown)}`;
    throw new UserFolderError(text, { where: folder, cause: thrown });
  }
}

export interface UserAgent {
  readonly node: string;
  readonly socket: string;
}

/** The agents that run. */
export async function userAgents(): Promise<UserAgent[]> {
  const folder = userFolder();
  const agents: UserAgent[] = [];
  for (const node of isOwn(folder) ? readdirSync(folder) : []) {
    const socket = userAgentSocket(join(folder, node));
    if (await isAnswered(socket)) agents.push({ node, socket });
  }
  return agents;
}

function isOwn(folder: string): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  return found?.isDirectory() === true && found.uid === process.getuid!();
}
