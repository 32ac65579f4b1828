import { type OwnKeys, slots } from '#plugins/controller/api/ports/wireguard-keys.ts';
import type { OwnSlotKey } from './api.ts';

/** The keys of this node as they are wired and published. */
export function slotKeys({ keys, replacement }: OwnKeys): OwnSlotKey[] {
  return slots.map((slot) => ({
    slot,
    publicKey: keys[slot].publicKey,
    isReplaced: replacement?.slot === slot,
  }));
}
