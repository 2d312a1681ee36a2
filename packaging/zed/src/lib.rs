//! Starts the greenloop that the user installed, with the settings of `lsp.greenloop`.

use zed_extension_api::{self as zed, serde_json, settings::LspSettings, LanguageServerId, Result};

const INSTALL: &str =
    "greenloop is not on the PATH. Install it, or set lsp.greenloop.binary.path to its program.";

struct Greenloop;

impl zed::Extension for Greenloop {
    fn new() -> Self {
        Self
    }

    fn language_server_command(
        &mut self,
        _server: &LanguageServerId,
        worktree: &zed::Worktree,
    ) -> Result<zed::Command> {
        let binary = LspSettings::for_worktree("greenloop", worktree)?.binary;
        let path = binary.as_ref().and_then(|binary| binary.path.clone());
        let args = binary.and_then(|binary| binary.arguments);
        Ok(zed::Command {
            command: path
                .or_else(|| worktree.which("greenloop"))
                .ok_or(INSTALL)?,
            args: args.unwrap_or_else(|| vec!["serve".into()]),
            env: worktree.shell_env(),
        })
    }

    fn language_server_initialization_options(
        &mut self,
        _server: &LanguageServerId,
        worktree: &zed::Worktree,
    ) -> Result<Option<serde_json::Value>> {
        Ok(LspSettings::for_worktree("greenloop", worktree)?.initialization_options)
    }

    fn language_server_workspace_configuration(
        &mut self,
        _server: &LanguageServerId,
        worktree: &zed::Worktree,
    ) -> Result<Option<serde_json::Value>> {
        let settings = LspSettings::for_worktree("greenloop", worktree)?.settings;
        Ok(Some(serde_json::json!({ "greenloop": settings })))
    }
}

zed::register_extension!(Greenloop);
