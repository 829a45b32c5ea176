# SPDX-License-Identifier: MIT
# Completion for gatehousectl in fish. The program itself names the candidates.
function __gatehousectl_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in ($words[1] complete $words[2..-1] 2>/dev/null)
        if test "$line" = :files
            __fish_complete_path (commandline -ct)
        else
            echo $line
        end
    end
end
complete -c gatehousectl -f -a '(__gatehousectl_complete)'
