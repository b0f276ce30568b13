/** Databases: the programs that talk to them, and statements that lose data, give rights or change other machines. */

export const databaseClients: ReadonlySet<string> = new Set(
  "psql mysql mariadb mycli pgcli usql litecli sqlite3 sqlite sqlplus cqlsh isql sqlcmd trino presto spark-sql hive beeline turso mssql-cli clickhouse-client cockroach duckdb bq snowsql prisma wrangler cypher-shell arangosh".split(
    " ",
  ),
);
const sql =
  /\b(?:detach\s{1,9}delete\b|drop\s{1,9}(?:if\s{1,9}exists\s{1,9})?(?:(?:materialized|foreign|temporary|event|text\s{1,9}search)\s{1,9})?(?:table|database|schema|index|view|user|role|column|sequence|function|procedure|trigger|type|domain|extension|tablespace|policy|constraint|owned|keyspace|collection|publication|subscription|server|partition|aggregate|operator|rule|cast|warehouse|stage|task|stream|pipe|catalog|namespace)\b(?=\s{1,9}["\w`[$.])|truncate(?:\s{1,9}table)?\s{1,9}\w|alter\s{1,9}table\b[^;]{0,200}\b(?:drop|delete)\b|delete\s{1,9}from\s{1,9}[\w."`[\]]{1,99}\s{0,9}(?:;|$|"|'|where\b|using\b|order\b|limit\b|returning\b)|update\s{1,9}[\w."`]{1,99}\s{1,9}set\b(?![^;]{0,2000}\bwhere\b(?!\s{1,9}(?:true|1\s{0,9}=\s{0,9}1|1)\b)))/i;

const grants =
  /\b(?:grant\s{1,9}[\w\s,]{1,99}\b(?:on|to)\b|revoke\s{1,9}[\w\s,]{1,99}\b(?:on|from)\b|(?:alter|create)\s{1,9}(?:user|role|login)\b|set\s{1,9}password\b)/i;
const remoteDatabase =
  /(?:^|\s)(?:-h\s{0,4}|--host[ =])(?!localhost\b|127\.|0\.0\.0\.0|\/|::1|db\b|postgres\b|mysql\b)[\w.-]{1,99}|\b(?:postgres(?:ql)?|mysql|mongodb(?:\+srv)?|redis|rediss):\/\/(?:[^\s@/]{0,200}@)?(?!localhost\b|127\.|0\.0\.0\.0|db\b|postgres\b|mysql\b)\w/i;
const changesRows =
  /\b(?:insert\s{1,9}into|update\s{1,9}\S{1,99}\s{1,9}set|delete\s{1,9}from|merge\s{1,9}into|replace\s{1,9}into|alter\s{1,9}\w+|create\s{1,9}\w+)\b/i;

/** The SQL statement that changes who may do what. null if there is none. */
export function findGrant(text: string): string | null {
  return grants.exec(text)?.[0].replace(/\s+/g, " ") ?? null;
}

/** The SQL statement that changes rows of a database on another machine. null if there is none. */
export function findRemoteChange(text: string): string | null {
  return remoteDatabase.test(text) ? (changesRows.exec(text)?.[0].replace(/\s+/g, " ") ?? null) : null;
}

/** The SQL statement that deletes data. null if there is none. */
export function findDataLoss(text: string): string | null {
  const plain = text.replace(/\/\*.{0,500}?\*\//gs, " ").replace(/--[^\n]{0,500}\n/g, " ");
  return sql.exec(plain)?.[0].replace(/\s+/g, " ") ?? null;
}
