// Tables: rows by cursor, a selection for what is done in bulk, links for the keyboard. On a narrow screen each row is a card.

import type { ComponentChildren, JSX } from "preact";
import type { Listed } from "@/base/ask";
import { useWords } from "@/base/words";
import { Button } from "@/parts/button";
import { Loading, ProblemBox } from "@/parts/feedback";
import { words } from "@/parts/words";

export interface Column<T> {
  id: string;
  title: string;
  cell: (row: T) => ComponentChildren;
  align?: "right";
  isMain?: boolean; // the title of the card on a narrow screen
  isWide?: boolean; // takes what is left
  sort?: string; // a field to sort by: the head becomes a button
}

export interface Sort {
  field: string;
  isDescending: boolean;
}

export interface TableProps<T> {
  label: string;
  list: Pick<Listed<T>, "data" | "problem" | "isLoading" | "reload"> & Partial<Listed<T>>;
  columns: Column<T>[];
  keyOf: (row: T) => string;
  empty: ComponentChildren;
  selected?: ReadonlySet<string>;
  onSelect?: (selected: ReadonlySet<string>) => void;
  rowClass?: (row: T) => string;
  sort?: Sort | undefined;
  onSort?: (sort: Sort) => void;
}

export function DataTable<T>(props: TableProps<T>): JSX.Element {
  const t = useWords(words);
  const { list, columns, keyOf } = props;
  if (list.data === undefined) {
    return list.problem ? <ProblemBox problem={list.problem} onRetry={list.reload} /> : <Loading />;
  }
  const rows = list.data;
  return (
    <div class="table-box">
      {list.problem && <ProblemBox problem={list.problem} onRetry={list.reload} />}
      {rows.length === 0 ? (
        list.isLoadingMore ? <Loading /> : list.hasMore ? <p class="quiet">{t.lookedSoFar}</p> : props.empty
      ) : (
        <table class="table" aria-label={props.label}>
          <Head {...props} rows={rows} />
          <tbody>
            {rows.map((row) => (
              <tr key={keyOf(row)} class={props.rowClass?.(row)} aria-selected={props.selected?.has(keyOf(row))}>
                {props.onSelect && (
                  <td class="pick">
                    <input
                      type="checkbox"
                      aria-label={t.selectRow(keyOf(row))}
                      checked={props.selected?.has(keyOf(row)) ?? false}
                      onChange={() => props.onSelect?.(toggled(props.selected, keyOf(row)))}
                    />
                  </td>
                )}
                {columns.map((column) => (
                  <td key={column.id} data-title={column.title} class={cellClass(column)}>
                    <div class="cell">{column.cell(row)}</div>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {(rows.length > 0 || list.hasMore) && (
        <div class="table-foot">
          <span>{t.shown(rows.length, list.total, list.isTotalBound ?? false)}</span>
          {list.hasMore && (
            <Button onClick={list.more} isBusy={list.isLoadingMore ?? false}>
              {t.more}
            </Button>
          )}
        </div>
      )}
    </div>
  );
}

function Head<T>(props: TableProps<T> & { rows: T[] }): JSX.Element {
  const t = useWords(words);
  const keys = props.rows.map(props.keyOf);
  const areAll = keys.every((key) => props.selected?.has(key));
  return (
    <thead>
      <tr>
        {props.onSelect && (
          <th class="pick" scope="col">
            <label class="pick-all">
              <input type="checkbox" checked={areAll} onChange={() => props.onSelect?.(new Set(areAll ? [] : keys))} />
              <span>{t.selectAll}</span>
            </label>
          </th>
        )}
        {props.columns.map((column) => (
          <th key={column.id} scope="col" class={cellClass(column)} aria-sort={sortOf(props.sort, column.sort)}>
            {column.sort && props.onSort ? (
              <button type="button" class="sort" onClick={() => props.onSort?.(turned(props.sort, column.sort ?? ""))}>
                {column.title}
              </button>
            ) : (
              column.title
            )}
          </th>
        ))}
      </tr>
    </thead>
  );
}

function cellClass<T>(column: Column<T>): string {
  return [column.align ?? "", column.isMain ? "main" : "", column.isWide ? "wide" : ""].filter(Boolean).join(" ");
}

function sortOf(sort: Sort | undefined, field: string | undefined): "ascending" | "descending" | undefined {
  if (!field || sort?.field !== field) return undefined;
  return sort.isDescending ? "descending" : "ascending";
}

function turned(sort: Sort | undefined, field: string): Sort {
  return { field, isDescending: sort?.field === field ? !sort.isDescending : false };
}

function toggled(selected: ReadonlySet<string> | undefined, key: string): ReadonlySet<string> {
  const next = new Set(selected);
  if (!next.delete(key)) next.add(key);
  return next;
}
