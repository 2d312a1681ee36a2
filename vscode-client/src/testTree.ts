// The tests as items of the Testing view: files, classes, tests, and the cases of a parametrised test.

import * as vscode from "vscode";

import type { TestFile } from "./protocol";

export class TestTree {
  /** pytest's node id of each item; a file's is its path. */
  private readonly nodeIds = new WeakMap<vscode.TestItem, string>();

  constructor(private readonly controller: vscode.TestController) {}

  nodeId(item: vscode.TestItem): string {
    return this.nodeIds.get(item) ?? "";
  }

  /** Shows these files and no others; the tests of those that stay are kept. */
  showFiles(files: readonly TestFile[]): void {
    this.controller.items.replace(files.map((file) => this.fileItem(file)));
  }

  /** Shows the tests of a file, and keeps the items of those that it had before. */
  showTests(file: TestFile): void {
    const root = this.fileItem(file);
    this.controller.items.add(root);
    const children = new Map<vscode.TestItem, vscode.TestItem[]>([[root, []]]);
    const listed = new Map<string, vscode.TestItem>([[file.path, root]]);
    for (const { test, start, end } of file.tests ?? []) {
      const parent = listed.get(test.slice(0, test.lastIndexOf("::"))) ?? root;
      const item = this.child(parent, root.id + test.slice(file.path.length), test.slice(test.lastIndexOf("::") + 2), test);
      item.range = new vscode.Range(start, 0, end, 0);
      item.sortText = String(start).padStart(6, "0");
      listed.set(test, item);
      children.set(parent, [...(children.get(parent) ?? []), item]);
    }
    for (const item of listed.values()) {
      const cases = [...item.children].map(([, child]) => child).filter((child) => child.id.startsWith(`${item.id}[`));
      item.children.replace([...(children.get(item) ?? []), ...cases]);
    }
  }

  remove(uri: vscode.Uri): void {
    this.controller.items.delete(uri.toString());
  }

  has(uri: vscode.Uri): boolean {
    return this.controller.items.get(uri.toString()) !== undefined;
  }

  /** The item of a node id; a case of a parametrised test is added below it. Undefined if its file is not shown. */
  find(uri: string, test: string): vscode.TestItem | undefined {
    const file = this.controller.items.get(vscode.Uri.parse(uri).toString());
    const [path = "", ...names] = test.split("::");
    let item = file;
    for (const name of names) {
      item = item?.children.get(`${item.id}::${name}`) ?? this.findCase(item, name, test);
    }
    return file !== undefined && this.nodeId(file) === path ? item : undefined;
  }

  /** The item of a node id of the first folder that has its file. */
  findById(test: string): vscode.TestItem | undefined {
    const file = [...this.controller.items].find(([, item]) => this.nodeId(item) === test.split("::")[0]);
    return file === undefined ? undefined : this.find(file[0], test);
  }

  private findCase(parent: vscode.TestItem | undefined, name: string, test: string): vscode.TestItem | undefined {
    const [own = ""] = name.split("[");
    const item = parent?.children.get(`${parent.id}::${own}`);
    if (item === undefined || own === name) {
      return undefined;
    }
    const added = this.child(item, item.id + name.slice(own.length), name.slice(own.length), test);
    added.range = item.range;
    item.children.add(added);
    return added;
  }

  private fileItem(file: TestFile): vscode.TestItem {
    const uri = vscode.Uri.parse(file.uri);
    const item = this.controller.items.get(uri.toString()) ?? this.controller.createTestItem(uri.toString(), file.path, uri);
    item.canResolveChildren = true;
    this.nodeIds.set(item, file.path);
    return item;
  }

  private child(parent: vscode.TestItem, id: string, label: string, test: string): vscode.TestItem {
    const item = parent.children.get(id) ?? this.controller.createTestItem(id, label, parent.uri);
    this.nodeIds.set(item, test);
    return item;
  }
}

/** The items without children at or below these. */
export function leavesOf(items: readonly vscode.TestItem[]): vscode.TestItem[] {
  return items.flatMap((item) => (item.children.size === 0 ? [item] : leavesOf([...item.children].map(([, child]) => child))));
}
