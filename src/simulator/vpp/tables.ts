import type { Family, Fib, FibTable } from './fib.ts';
import type { MessageHandlers } from './message-handlers.ts';
import { NONE, retval } from './retval.ts';

const API_LOCK = 'api';
/** As far up as anybody looks for a table number that is not in use. */
const FIRST_FREE = 1_000_000;

function family(isIp6: boolean): Family {
  return isIp6 ? 6 : 4;
}

function tableDetails(table: FibTable) {
  return { table_id: table.id, is_ip6: table.family === 6, name: table.name };
}

/** VRFs. */
export function tableMessages(fib: Fib): MessageHandlers {
  const addDel = (isAdd: boolean, isIp6: boolean, id: number, name: string): number => {
    // table 0 is there always and is nobody's to name or to delete
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
      ip_table_add_del_v2: ({ is_add, table: { table_id, is_ip6, name } }) =>
        addDel(is_add, is_ip6, table_id, name),
      ip_table_allocate: ({ table: { table_id, is_ip6, name } }) => {
        let id = table_id;
        if (id === NONE) {
          id = FIRST_FREE;
          while (fib.find(family(is_ip6), id)) id++;
        }
        addDel(true, is_ip6, id, name);
        return { table: { table_id: id, is_ip6, name } };
      },
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
