/** The tools with which Claude Code changes files. */
import type { EditTools } from "../edits.ts";

export const editTools: EditTools = {
  Edit: "file_path",
  Write: "file_path",
  MultiEdit: "file_path",
  NotebookEdit: "notebook_path",
};
