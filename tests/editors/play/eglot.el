;;; eglot's own ways.  -*- lexical-binding: t -*-
(require 'eglot)
(setq eglot-sync-connect 30 eglot-connect-timeout 30)
(setq play-tick (lambda ()
                  ;; eglot reports changes when Emacs is idle.
                  (dolist (each (buffer-list))
                    (with-current-buffer each
                      (when (eglot-managed-p) (eglot--signal-textDocument/didChange))))))

(defun play-open (name)
  (find-file (concat play-root name))
  (buffer-enable-undo)
  (unless (eglot-managed-p) (call-interactively #'eglot))
  (play-wait "server" #'eglot-managed-p)
  (flymake-mode 1)
  (flymake-start))
(defun play-act (name line title) (play-menu name line title #'eglot-code-actions))
(defun play-diagnostics (name)
  (with-current-buffer (play-buffer name)
    (vconcat (mapcar (lambda (each)
                       (list :line (line-number-at-pos (flymake-diagnostic-beg each))
                             :text (flymake-diagnostic-text each) :source "" :related ""))
                     (flymake-diagnostics)))))
(defun play-hover (name line column)
  (play-in name
    (play-go line column)
    (let ((found (jsonrpc-request (eglot--current-server-or-lose) :textDocument/hover
                                  (eglot--TextDocumentPositionParams))))
      (substring-no-properties (eglot--hover-info (plist-get found :contents) (plist-get found :range))))))
(defun play-configure (settings)
  (setq-default eglot-workspace-configuration (list :greenloop settings))
  (eglot-signal-didChangeConfiguration (eglot-current-server)))
(defun play-restart (names)
  ;; eglot does it by itself.
  (dolist (name names)
    (play-in name
      (play-wait "server" (lambda ()
                            (and (eglot-managed-p) (eglot-current-server) (jsonrpc-running-p (eglot-current-server)))))
      (flymake-start))))
(defun play-stop ()
  (eglot-shutdown (cl-some (lambda (each) (with-current-buffer each (eglot-current-server))) (buffer-list)) nil 10))
(play)
