import type { RollbackList } from '#infra/rollback/rollback.ts';
import type { Dependency, OperationContext } from '#kvscheduler/api/descriptor.ts';
import type { LinuxInterface } from '#models/linux/interface.ts';
import type { LinuxInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';

/** What is particular to one type of link. Settings (MAC, MTU, state) are set by the descriptor. */
export interface LinkTypeHandler {
  readonly type: LinuxInterface['type'];
  /** Whether addresses and settings that nobody asked for are left alone. */
  readonly isShared: boolean;
  /** Throws InvalidValueError. */
  validate(key: string, value: LinuxInterface): void;
  dependencies(value: LinuxInterface): readonly Dependency[];
  /**
   * Brings the link, marked as ours, to its namespace under its name.
   * @param settle gives the link in that place its settings, and a mark where it has none yet
   */
  create(
    value: LinuxInterface,
    ctx: OperationContext,
    undo: RollbackList,
    settle: (metadata: LinuxInterfaceMetadata, mark?: string) => Promise<void>,
  ): Promise<LinuxInterfaceMetadata>;
  delete(value: LinuxInterface, metadata: LinuxInterfaceMetadata): Promise<void>;
}
