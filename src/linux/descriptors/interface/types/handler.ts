import type { RollbackList } from '#infra/rollback/rollback.ts';
import type { Dependency, OperationContext } from '#kvscheduler/api/descriptor.ts';
import type { LinuxInterface } from '#models/linux/interface.ts';
import type { LinuxInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';

/** The behavior that is particular to one type of link. The descriptor sets MAC, MTU and state. */
export interface LinkTypeHandler {
  readonly type: LinuxInterface['type'];
  /** Whether addresses and settings that the value does not contain are left alone. */
  readonly isShared: boolean;
  /** Throws InvalidValueError. */
  validate(key: string, value: LinuxInterface): void;
  dependencies(value: LinuxInterface): readonly Dependency[];
  /**
   * Creates the link, or moves it to its namespace and name, and marks it.
   * @param applySettings applies the settings to the link in its location, and a mark if it has none yet
   */
  create(
    value: LinuxInterface,
    ctx: OperationContext,
    undo: RollbackList,
    applySettings: (metadata: LinuxInterfaceMetadata, mark?: string) => Promise<void>,
  ): Promise<LinuxInterfaceMetadata>;
  delete(value: LinuxInterface, metadata: LinuxInterfaceMetadata): Promise<void>;
}
