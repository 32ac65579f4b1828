import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Refusal } from '../netlink/refusal.ts';
import { BpfLink, isMissing } from './link.ts';
import type { BpfProgram, HookPlace } from './program.ts';
import { close, openFolder } from './system-call.ts';

interface ControlGroup {
  readonly file: number;
  readonly number: bigint;
}

/**
 * Programs at hooks of a control group, kept in a folder of the bpf file system: a file for each, with the name of its hook.
 * They continue when the agent ends, and its next process finds them.
 */
export class GroupPrograms<H extends string> {
  readonly #folder: string;
  readonly #group: string;
  readonly #hooks: Readonly<Record<H, HookPlace>>;

  /** @param group folder of the control group (version 2) whose processes, and those of the groups below, meet them */
  constructor(folder: string, group: string, hooks: Readonly<Record<H, HookPlace>>) {
    this.#folder = folder;
    this.#group = group;
    this.#hooks = hooks;
  }

  /** Hooks at which no program runs. */
  stopped(): readonly H[] {
    const { ino } = statSync(this.#group, { bigint: true });
    return hookNames(this.#hooks).filter((hook) => !isAttached(join(this.#folder, hook), ino));
  }

  /** Whether a program of an earlier agent runs for sockets of the group. */
  get isAnyAttached(): boolean {
    return this.stopped().length < hookNames(this.#hooks).length;
  }

  /** Takes the places of those that run: each call of a socket meets one of the two. */
  attach(programs: ReadonlyMap<H, BpfProgram>): void {
    const file = openFolder(this.#group);
    try {
      const group = { file, number: statSync(this.#group, { bigint: true }).ino };
      for (const [hook, program] of programs)
        attach(program, this.#hooks[hook], join(this.#folder, hook), group);
    } finally {
      close(file);
    }
  }
}

/** Ends the programs that are kept in a folder. */
export function detachAll<H extends string>(
  folder: string,
  hooks: Readonly<Record<H, HookPlace>>,
): void {
  for (const hook of hookNames(hooks)) detach(join(folder, hook));
}

/** @param group number of the control group */
function isAttached(path: string, group: bigint): boolean {
  const link = openLink(path);
  try {
    return link?.place.group === group;
  } finally {
    link?.close();
  }
}

function attach(program: BpfProgram, hook: HookPlace, path: string, group: ControlGroup): void {
  const found = openLink(path);
  try {
    if (found?.place.group === group.number) {
      found.replace(program);
      return;
    }
    // the control group is another one, or was deleted
    rmSync(path, { force: true });
    const made = BpfLink.create(program, group.file, hook);
    try {
      made.pin(path);
    } finally {
      made.close();
    }
  } finally {
    found?.close();
  }
}

/** Without the right to do so the kernel still ends the program, with the file. */
function detach(path: string): void {
  try {
    const link = openLink(path);
    try {
      link?.detach();
    } finally {
      link?.close();
    }
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown;
  }
}

function openLink(path: string): BpfLink | undefined {
  try {
    return BpfLink.open(path);
  } catch (thrown) {
    if (isMissing(thrown)) return undefined;
    throw thrown;
  }
}

function hookNames<H extends string>(hooks: Readonly<Record<H, HookPlace>>): readonly H[] {
  return Object.keys(hooks) as H[];
}
