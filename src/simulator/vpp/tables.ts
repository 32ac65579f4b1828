import type { Family, Fib, FibTable } from './fib.ts';
import type { MessageHandlers } from './message-handlers.ts';
import { retval } from './retval.ts';

const API_LOCK = 'api';

function family(isIp6: boolean): Family {
  return isIp6 ? 6 : 4;
}

function tableDetails(table: FibTable) {
  return { table_id: table.id, is_ip6: table.family === 6, name: table.name };
}

/** VRF tables. */
export function tableMessages(fib: Fib): MessageHandlers {
  const addDel = (isAdd: boolean, isIp6: boolean, id: number, name: string): number => {
    // table 0 always exists; it cannot be renamed or deleted
    if (id === 0) return 0;
    if (isAdd) fib.create(family(isIp6), id, name, API_LOCK);
    else {
      const table = fib.find(family(isIp6), id);
      if (table) fib.unlock(table, API_LOCK);
    }
    return 0;
  };
  return {
    requests: {
      ip_table_add_del: ({ is_add, table: { table_id, is_ip6, name } }) =>
        addDel(is_add, is_ip6, table_id, name),

      set_ip_flow_hash_v2: ({ table_id, af }) =>
        fib.find(family(af === 1), table_id) ? 0 : retval.NO_SUCH_FIB,
    },
    dumps: {
      ip_table_dump: () => fib.tables.map((table) => ({ table: tableDetails(table) })),
    },
    snapshot: () => ({
      tables: fib.tables
        .filter(({ id }) => id !== 0)
        .map((t) => `ipv${t.family} ${t.id} ${t.name}`)
        .sort(),
    }),
  };
}
