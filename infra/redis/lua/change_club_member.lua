-- Adds, changes or removes a member of a club, which keeps an owner as long as it is open.
--
-- KEYS  1 hash: account -> role and since when, such as `owner 1764331200000`
-- ARGV  1 account  2 role, '' to remove  3 now, ms  4 most members
-- Returns  'done' | 'full' | 'last' (the only owner); of the last two each has written nothing
--
-- A member who gets another role has been one since the same time.

local old = redis.call('HGET', KEYS[1], ARGV[1])
if not old then
  if ARGV[2] == '' then
    return 'done'
  end
  if redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[4]) then
    return 'full'
  end
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. ' ' .. ARGV[3])
  return 'done'
end
local role, since = string.match(old, '^(%l+) (%d+)$')
if role == 'owner' and ARGV[2] ~= 'owner' then
  local owners = 0
  for _, value in ipairs(redis.call('HVALS', KEYS[1])) do
    if string.sub(value, 1, 6) == 'owner ' then
      owners = owners + 1
    end
  end
  if owners == 1 then
    return 'last'
  end
end
if ARGV[2] == '' then
  redis.call('HDEL', KEYS[1], ARGV[1])
else
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. ' ' .. since)
end
return 'done'
